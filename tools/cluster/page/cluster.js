// Draws what /api/v1/cluster says, once a second, and the log of a job that was chosen.
'use strict';

const EVENTS_MAX = 50, OVER_MAX = 50, CHOICE_MAX = 200;

// ---- parts ------------------------------------------------------------------------------------

const since = ms => duration(Math.floor(ms / 1000));
const isOver = job => ['done', 'failed', 'cancelled'].includes(job.state);
const isLost = node => node.state === 'not heard of';
const sum = (list, field) => list.reduce((all, one) => all + one[field], 0);

function drawSummary(all) {
  const there = all.nodes.filter(node => ['here', 'draining', 'leaving', 'not lent', 'full'].includes(node.state));
  const lost = all.nodes.filter(isLost).length;
  const runs = all.jobs.filter(job => ['running', 'suspended', 'leaving', 'ending'].includes(job.state)).length;
  const waits = all.jobs.filter(job => job.state === 'waiting').length;
  const failed = all.jobs.filter(job => job.state === 'failed').length;
  const missing = all.replicas.length - all.here;
  const tiles = [
    ['Control plane', `${all.here} of ${all.replicas.length}`, `${all.wanted} have to take part`, missing > 0],
    ['Nodes', String(there.length), lost ? `${lost} not heard of` : 'all heard of', lost > 0],
    ['Slots in use', `${sum(there, 'used')} of ${sum(there, 'slots')}`, '', false],
    ['Running', String(runs), count(runs, 'job', 'jobs'), false],
    ['Waiting', String(waits), count(waits, 'job', 'jobs'), false],
    ['Failed', String(failed), 'of those that are remembered', failed > 0],
  ];
  $('summary').replaceChildren(...tiles.map(([name, value, small, bad]) => {
    const tile = make('div', bad ? { class: 'bad' } : {}, make('dt', {}, name), make('dd', {}, value));
    if (small) tile.lastChild.append(make('small', {}, small));
    return tile;
  }));
}

/// Below a table: nothing is touched that is the same.
function drawWords(id, lines) {
  const key = lines.join('\n');
  if ($(id).dataset.shown === key) return;
  $(id).dataset.shown = key;
  $(id).replaceChildren(...lines.map(words => make('p', { class: 'legend words' }, words)));
}
/// What the states mean that are not the rule, once each.
function drawStates(id, list, rule) {
  const means = new Map(list.filter(one => one.state !== rule).map(one => [one.state, one.means]));
  drawWords(id, [...means].map(([state, words]) => `${state}: ${words}.`));
}

function drawNodes(all) {
  drawStates('node-states', all.nodes, 'here');
  table('nodes', ['Node', 'State', 'Lent', 'Used', 'Slots', 'Heard of', 'Directory'], all.nodes.map(node =>
    [node.node, node.state, node.lent || '–', String(node.used), String(node.slots), since(node.heard_ago_ms) + ' ago', node.directory]), 3);
}

const where = job => job.node ? [job.node, ...(job.others || [])].join(', ') : '–';

function drawJobs(all) {
  const open = all.jobs.filter(job => !isOver(job));
  drawStates('job-states', open, 'running');
  table('jobs', ['Job', 'Name', 'User', 'State', 'Where', 'Why', 'Slots', 'Since', 'Attempt'], open.map(job =>
    [String(job.job), job.name, job.user, job.state, where(job), job.why || '', String(job.slots * job.nodes),
      since(job.started_ago_ms === undefined ? job.submitted_ago_ms : job.started_ago_ms), String(job.attempt)]), 6);
  const over = all.jobs.filter(isOver).sort((a, b) => a.ended_ago_ms - b.ended_ago_ms).slice(0, OVER_MAX);
  table('over', ['Job', 'Name', 'User', 'State', 'Where', 'Why', 'Code', 'Ended', 'Losses', 'Failures'], over.map(job =>
    [String(job.job), job.name, job.user, job.state, where(job), job.state === 'done' ? '' : job.why || '', String(job.code),
      since(job.ended_ago_ms) + ' ago', String(job.losses), String(job.failures)]), 6);
}

const ms = value => duration(value / 1000);

/// Beside the figures of streams, jobs of which there are none: most have the same reason.
function drawStreams(all) {
  const running = all.jobs.filter(job => job.stream);
  const known = running.filter(job => job.stream.known);
  table('streams', ['Job', 'Name', 'Phase', 'In', 'Out', 'Waiting', 'Read', 'Replicas', 'Processes', 'Snapshot', 'Size', 'Took', 'Losses', 'Coordinator'],
    known.map(job => {
      const one = job.stream, last = one.snapshots.last, leads = one.coordinator;
      return [String(job.job), job.name, one.phase, rate(one.items_in_per_second), rate(one.items_out_per_second),
        human(one.queued), one.read === null ? '–' : percent(one.read), String(one.replicas), String(one.workers),
        last ? ms(last.age_ms) + ' ago' : 'none', last ? bytes(last.bytes) : '–', last ? ms(last.took_ms) : '–',
        String(one.failures), leads ? `${leads.host}, for ${since(leads.for_ms)}` : '–'];
    }), 3);
  $('streams').parentElement.hidden = known.length === 0;
  const why = new Map();
  for (const job of running) {
    if (!job.stream.known) why.set(job.stream.why, [...(why.get(job.stream.why) || []), job.job]);
  }
  const some = jobs => jobs.slice(0, 5).join(', ') + (jobs.length > 5 ? ` and ${jobs.length - 5} more` : '');
  const lines = known.filter(job => job.stream.failure).map(job =>
    `Job ${job.job} ${job.name}, ${since(job.stream.failure.age_ms)} ago: ${job.stream.failure.text}`);
  for (const [reason, jobs] of why) lines.push(`No stream is seen of job ${some(jobs)}: ${reason}.`);
  if (running.length === 0) lines.push('No job runs.');
  drawWords('losses', lines);
}

function drawEvents(all) {
  table('events', ['When', 'What'], all.events.slice(-EVENTS_MAX).reverse().map(event =>
    [new Date(Date.now() - event.ago_ms).toLocaleString('en-GB'), event.text]), 2);
}

function drawReplicas(all) {
  table('replicas', ['Replica', 'Address', 'Does', 'Decided'], all.replicas.map(one =>
    [String(one.id), one.address, one.trouble ? 'does not answer: ' + one.trouble : one.silent ? 'catches up' : one.leads ? 'leads' : 'follows',
      one.decided === undefined ? '–' : human(one.decided)]), 3);
}

function drawUsers(all) {
  table('users', ['User', 'Role', 'Jobs run as'], all.users.map(user => [user.user, user.role, user.account || '–']), 3);
}

// What was chosen stays so, and keeps the focus: only other jobs make other options.
function drawChoice(all) {
  const wanted = [...all.jobs].reverse().slice(0, CHOICE_MAX);
  const key = wanted.map(job => job.job).join();
  const choice = $('log-of');
  if (choice.dataset.shown === key) return;
  choice.dataset.shown = key;
  const chosen = choice.value;
  choice.replaceChildren(make('option', { value: '' }, wanted.length ? 'none' : 'there is none'),
    ...wanted.map(job => make('option', { value: String(job.job) }, `${job.job} ${job.name}`)));
  choice.value = wanted.some(job => String(job.job) === chosen) ? chosen : '';
}

async function drawLog() {
  const asked = $('log-of').value;
  const log = $('log');
  log.hidden = asked === '';
  if (asked === '') return;
  try {
    const response = await fetch(`/api/v1/log?job=${asked}`, { signal: AbortSignal.timeout(GIVE_UP_MS), cache: 'no-store' });
    const words = await response.text();
    if (asked !== $('log-of').value) return;
    const follows = log.scrollHeight - log.scrollTop - log.clientHeight < 30;
    say('log', response.ok ? words || 'Nothing yet.' : words.trim());
    if (follows) log.scrollTop = log.scrollHeight;
  } catch { /* The next time says more. */ }
}

/// When nodes and jobs were known last.
let known = null;

function draw(all) {
  const well = all.goes_on && all.here === all.replicas.length && !all.nodes.some(isLost) && !all.trouble;
  const words = !all.goes_on ? 'the control plane does not go on' : well ? 'all is well' : 'something is missing';
  say('phase', words);
  $('phase').className = 'phase ' + (well ? 'good' : all.goes_on ? 'change' : 'bad');
  document.title = `${words} – Piracema cluster`;
  // What was known before stays to be read, and is not known to be so any more.
  $('stale').hidden = !all.trouble;
  if (all.trouble) say('stale', all.trouble + (known ? `; this is what was known at ${known.toLocaleTimeString('en-GB')}` : ''));
  drawReplicas(all);
  if (!all.trouble) {
    known = new Date();
    drawSummary(all);
    drawNodes(all);
    drawJobs(all);
    drawStreams(all);
    drawEvents(all);
    drawChoice(all);
    drawUsers(all);
    drawLog();
  }
  say('footer', `Piracema ${all.version} · seen as the user ${all.seen_as}, ${duration(all.seen_ago)} ago`);
  document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
}

$('log-of').addEventListener('change', drawLog);
follow('/api/v1/cluster', draw,
  since => showTrouble(`No answer${since}. Whatever shows the cluster has ended; the cluster may be well.`));
