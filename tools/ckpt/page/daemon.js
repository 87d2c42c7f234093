// Draws what /api/v1/queue says, once a second, and the last lines of the log.
'use strict';

const left = seconds => seconds === null ? '–' : seconds <= 0 ? 'now' : 'in ' + duration(seconds < 120 ? seconds : Math.floor(seconds));
const soon = seconds => clock(Date.now() / 1000 + Math.max(0, seconds));
const OUTCOMES = { ended: 'ended', stopped: 'saved, goes on later', died: 'was killed', failed: 'could not run' };

function machineTile(one) {
  if (one.lent) return ['Machine', 'lent', one.closes_in === null ? 'until its user is back' : `until ${soon(one.closes_in)}, ${left(one.closes_in)}`, false];
  if (one.user_present) return ['Machine', 'not lent', 'its user is there', false];
  return ['Machine', 'not lent', one.idle_in !== null && one.idle_in > 0 ? `idle ${left(one.idle_in)}` : 'no window is open', false];
}

function drawSummary(one) {
  const last = one.left.find(gone => gone.took !== null);
  const lost = one.outcomes.died + one.outcomes.failed;
  const tiles = [
    machineTile(one),
    ['Running', `${one.running} of ${one.slots}`, 'at a time', false],
    ['Waiting', human(one.waiting), 'or on other hosts', false],
    ['Left last', last ? duration(last.took) : '–', last ? `of ${duration(last.given)} that it had` : 'none was asked to leave', Boolean(last && last.took > last.given)],
    ['Ended', human(one.outcomes.ended), `of ${count(one.started, 'start', 'starts')}, ${one.outcomes.stopped} saved`, false],
    ['Not well', human(lost), `${one.killed} killed as they were late`, lost + one.killed > 0],
  ];
  $('summary').replaceChildren(...tiles.map(([name, value, small, bad]) =>
    make('div', bad ? { class: 'bad' } : {}, make('dt', {}, name), make('dd', {}, value, make('small', {}, small)))));
}

function plan(job) {
  if (job.state !== 'waiting') return job.gone_in === null ? `for ${duration(Math.floor(job.runs_for))}` : `for ${duration(Math.floor(job.runs_for))}, gone ${left(job.gone_in)}`;
  if (job.left_this_window) return 'in the next window';
  return (job.not_before_in > 0 ? `tried again ${left(job.not_before_in)}` : '') + (job.failures ? ` (${count(job.failures, 'failure', 'failures')})` : '');
}

function draw(one) {
  const words = one.ends ? 'ends' : one.lent ? 'lent' : 'not lent';
  say('title', `Queue on ${one.host}`);
  say('queue', one.queue);
  say('phase', words);
  $('phase').className = 'phase ' + (one.ends ? 'change' : one.lent ? 'good' : 'change');
  document.title = `${words} – queue on ${one.host}`;
  $('stale').hidden = one.seen_ago <= 10;
  if (one.seen_ago > 10) say('stale', `The daemon has shown nothing for ${duration(Math.floor(one.seen_ago))}.`);
  drawSummary(one);
  table('jobs', ['Job', 'Command', 'State', 'When', 'Directory'], one.jobs.map(job =>
    [job.job, job.command.join(' '), job.state, plan(job), job.stream ? 'a stream' : job.directory]), 5);
  // A command may be long.
  for (const cell of $('jobs').querySelectorAll('tr > :nth-child(2)')) cell.classList.add('wide');
  const more = one.running + one.waiting - one.jobs.length;
  say('more', !one.jobs.length ? 'None waits or runs.' : more > 0 ? `And ${more} more.` : '');
  table('gone', ['When', 'Job', 'What', 'Ran', 'Left in', 'Of'], one.left.map(gone =>
    [clock(gone.at_unix), gone.job, OUTCOMES[gone.outcome], duration(gone.ran < 120 ? gone.ran : Math.floor(gone.ran)), duration(gone.took), duration(gone.given)]), 3);
  askForLines();
  say('footer', `Piracema ${one.version} · daemon ${one.pid}, since ${new Date(one.began_at_unix * 1000).toLocaleString('en-GB')}`);
  document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
}

follow('/api/v1/queue', draw, since => showTrouble(`No answer${since}. The daemon has ended, or its machine is away.`));
