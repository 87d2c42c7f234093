// Draws what /api/v1/job says, once a second, and the last lines of the log.
'use strict';

const left = seconds => seconds <= 0 ? 'now' : 'in ' + duration(seconds < 120 ? seconds : Math.floor(seconds));
const soon = seconds => clock(Date.now() / 1000 + Math.max(0, seconds));
const day = unix => new Date(unix * 1000).toLocaleString('en-GB', { dateStyle: 'short', timeStyle: 'medium' });

function windowTile(one) {
  const window = one.window;
  if (!window) return ['Window', 'always', 'nothing closes it', false];
  if (window.opens_in !== undefined) return ['Window opens', clock(window.opens_at_unix), left(window.opens_in), false];
  return ['Window closes', clock(window.closes_at_unix), `${left(window.closes_in)}${window.closes_why ? ': ' + window.closes_why : ''}`, false];
}

function nextTile(one) {
  const plans = [];
  if (one.save_in !== null) plans.push([one.save_in, 'the job goes on']);
  if (one.stop_in !== null) plans.push([one.stop_in, 'and stops with it, as the window closes']);
  plans.sort((a, b) => a[0] - b[0]);
  return ['Next checkpoint', plans.length ? soon(plans[0][0]) : 'when asked', plans.length ? `${left(plans[0][0])}, ${plans[0][1]}` : 'piracema ckpt save', false];
}

function drawSummary(one) {
  const last = one.checkpoints.past.find(past => past.outcome === 'saved');
  const forecast = one.forecast;
  const other = one.checkpoints.failed + one.checkpoints.given_up;
  const store = one.store;
  const learnt = !forecast ? '' : forecast.learnt ? `by ${count(forecast.learnt, 'dump', 'dumps')} before` : 'nothing was learnt of this store yet';
  const tiles = [
    windowTile(one),
    nextTile(one),
    ['It would take', forecast ? duration(forecast.p50) : '–', forecast ? `p95 ${duration(forecast.p95)}, ${learnt}` : 'the job does not run', false],
    ['Last checkpoint', last ? duration(last.took) : 'none', last ? `${duration(Math.floor(last.ago))} ago, ${bytes(last.bytes)}, stood still for ${duration(last.frozen)}` : 'since the keeper began', false],
    ['Checkpoints', human(one.checkpoints.saved), other ? `${other} not saved` : 'saved since it began', other > 0],
    ['Memory', one.processes ? bytes(one.resident_bytes) : '–', count(one.processes, 'process', 'processes'), false],
    ['Room', store ? bytes(store.free_bytes) : '–', store ? `of ${bytes(store.size_bytes)}${store.seen_ago > 15 ? `, seen ${duration(Math.floor(store.seen_ago))} ago` : ''}` : 'not seen yet',
      Boolean(store && (store.seen_ago > 15 || last && store.free_bytes < 2 * last.bytes))],
    ['Launched', human(one.launches.launched), one.launches.failed ? `${one.launches.failed} failed` : one.from_image ? `from image ${one.from_image}` : 'from the beginning', one.launches.failed > 0],
  ];
  $('summary').replaceChildren(...tiles.map(([name, value, small, bad]) =>
    make('div', bad ? { class: 'bad' } : {}, make('dt', {}, name), make('dd', {}, value, make('small', {}, small)))));
}

const OUTCOMES = { under_way: 'under way', saved: 'saved', failed: 'failed', given_up: 'given up' };

function drawCheckpoints(one) {
  if (!one.checkpoints.past.length) {
    $('checkpoints').replaceChildren($('checkpoints').caption);
    $('checkpoints').append(make('tbody', {}, make('tr', {}, make('td', { class: 'none' }, 'None yet.'))));
    return;
  }
  table('checkpoints', ['Begun', 'Outcome', 'Took', 'Forecast', 'p95', 'Frozen', 'Image', 'Size'], one.checkpoints.past.map(past =>
    [clock(past.at_unix), OUTCOMES[past.outcome] + (past.stops ? ', to stop' : '') + (past.tries > 1 ? `, ${past.tries} tries` : '') +
      (past.why ? `: ${past.why}` : ''), duration(past.took), duration(past.forecast_p50), duration(past.forecast_p95),
      duration(past.frozen), past.image === null ? '–' : String(past.image), bytes(past.bytes)]), 2);
  // A reason may be long.
  for (const cell of $('checkpoints').querySelectorAll('tr > :nth-child(2)')) cell.classList.add('wide');
}

// Each as a bar from the median to p95 of what was forecast, and a line for what it took.
function drawPast(one) {
  const all = one.checkpoints.past.filter(past => past.outcome !== 'under_way').slice(0, 40).reverse();
  if (!all.length) { $('past').replaceChildren(); return; }
  const most = Math.max(0.001, ...all.flatMap(past => [past.took, past.forecast_p95 || 0]));
  const width = Math.max(260, $('past').clientWidth), height = 150, start = 62, base = height - 8;
  const step = Math.min(48, (width - 10 - start) / all.length);
  const y = value => base - (base - 10) * value / most;
  const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': `The last ${all.length} checkpoints, oldest first: forecast and what they took, at most ${duration(most)}` });
  for (const part of [0, 0.5, 1]) {
    picture.append(svg('line', { x1: start, x2: width - 10, y1: y(part * most), y2: y(part * most), class: 'grid' }),
      text(start - 6, y(part * most) + 4, duration(part * most), { class: 'axis', 'text-anchor': 'end' }));
  }
  all.forEach((past, i) => {
    const x = start + step * i + 2, wide = Math.max(2, step - 4);
    if (past.forecast_p50 !== null) {
      const top = y(past.forecast_p95), under = y(past.forecast_p50);
      picture.append(svg('rect', { x, y: top, width: wide, height: Math.max(2, under - top), class: 's-idle' }));
    }
    picture.append(svg('line', { x1: x, x2: x + wide, y1: y(past.took), y2: y(past.took), class: past.outcome === 'saved' ? 'l-out' : 'mark' }));
  });
  $('past').replaceChildren(picture);
}

function drawImages(one) {
  const images = one.store ? [...one.store.images].reverse() : [];
  say('place', `${one.directory} on ${one.hosts.length > 1 ? `a store of ${one.hosts.join(', ')}` : one.hosts[0]}` +
    (images.length ? `: ${bytes(images.reduce((sum, image) => sum + image.bytes, 0))} in ${count(images.length, 'image', 'images')}` : ': no image yet'));
  table('images', ['Image', 'Size', 'Made'], images.map(image => [String(image.image), bytes(image.bytes), day(image.created_at_unix)]));
}

function drawTroubles(one) {
  $('troubles').replaceChildren(...(one.troubles.length
    ? one.troubles.map(trouble => make('p', { class: 'words' }, `${clock(trouble.at_unix)} ${trouble.text}`))
    : [make('p', { class: 'none' }, 'Nothing.')]));
}

function draw(one) {
  const name = (one.command[0] || 'job').split('/').pop();
  const words = one.paused ? 'stands still' : one.state;
  say('title', name);
  say('command', one.command.join(' '));
  say('phase', words);
  $('phase').className = 'phase ' + (one.paused ? 'bad' : one.state === 'running' ? 'good' : 'change');
  document.title = `${words} – ${name}`;
  const silent = one.seen_ago > 30;
  $('stale').hidden = !(silent || one.paused);
  if (silent) say('stale', `The keeper has shown nothing for ${duration(Math.floor(one.seen_ago))}: it reads an image, waits for its store, or stands still.`);
  else if (one.paused) say('stale', `The job does not run: ${one.trouble}.`);
  drawSummary(one);
  drawPast(one);
  drawCheckpoints(one);
  drawImages(one);
  drawTroubles(one);
  askForLines();
  say('footer', `Piracema ${one.version} · ${one.hosts.join(', ')} · keeper ${one.pid}, since ${day(one.began_at_unix)}`);
  document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
}

follow('/api/v1/job', draw, since => showTrouble(`No answer${since}. The keeper has ended, or its machine is away.`));
