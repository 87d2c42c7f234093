// Draws what /api/v1/all says of a job, once a second; or, in a report, what is recorded in the page.
'use strict';

const recorded = $('recorded') ? JSON.parse($('recorded').textContent) : null;

const NOTICED = {
  process_ended: 'the end of its process',
  connection_ended: 'the end of its connection',
  silent: 'missing heartbeats',
  not_joined: 'its silence after it was started',
  stuck: 'an operator that did not return',
  operator_failed: 'an exception of the operator',
  other: 'the coordinator',
};

/// How a node spends its time, as one bar.
function bar(width, height, busy, blocked) {
  const picture = svg('svg', { width, height, class: 'bar', 'aria-hidden': 'true' });
  let x = 0;
  for (const [share, name] of [[busy, 'busy'], [blocked, 'blocked'], [Math.max(0, 1 - busy - blocked), 'idle']]) {
    picture.append(svg('rect', { x, y: 0, width: Math.max(0, share * width), height, class: 's-' + name }));
    x += share * width;
  }
  return picture;
}

// ---- graph ----------------------------------------------------------------------------------

const BOX = { width: 176, height: 84, along: 70, across: 18 };

// Each node one layer behind the last that leads to it; back edges lead nowhere.
function layers(graph) {
  const depth = graph.nodes.map(() => 0);
  const forward = graph.edges.filter(edge => !edge.back);
  for (let round = 0; round < graph.nodes.length; round += 1) {
    let changed = false;
    for (const edge of forward) {
      if (depth[edge.to] < depth[edge.from] + 1) { depth[edge.to] = depth[edge.from] + 1; changed = true; }
    }
    if (!changed) break;
  }
  return depth;
}

function drawGraph(graph) {
  const holder = $('graph');
  if (!graph.nodes.length) { holder.replaceChildren(make('p', { class: 'none' }, 'Not known yet: no process has joined.')); return; }
  const depth = layers(graph);
  const columns = Math.max(...depth) + 1;
  const rows = Array(columns).fill(0);
  const place = graph.nodes.map((_, i) => rows[depth[i]]++);
  const most = Math.max(...rows);
  const upright = columns * BOX.width + (columns - 1) * BOX.along > holder.clientWidth;
  const gap = upright ? 40 : BOX.along;
  const size = upright ? BOX.height : BOX.width, other = upright ? BOX.width : BOX.height;
  const at = i => {
    const along = 6 + depth[i] * (size + gap);
    const across = 6 + (place[i] + (most - rows[depth[i]]) / 2) * (other + BOX.across);
    return upright ? { x: across, y: along } : { x: along, y: across };
  };
  const backs = graph.edges.some(edge => edge.back) ? 40 : 0;
  const long = columns * size + (columns - 1) * gap + 12;
  const wide = most * (other + BOX.across) - BOX.across + 12 + backs;
  const width = upright ? wide : long, height = upright ? long : wide;
  const worst = graph.nodes.reduce((a, b) => (b.busy_share > a.busy_share ? b : a));
  const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': 'The nodes and how items go from one to the next; the table below has the same' },
    svg('defs', {}, svg('marker', { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7,
      markerHeight: 7, orient: 'auto' }, svg('path', { d: 'M0 0L8 4L0 8z', class: 'arrow' }))));
  for (const edge of graph.edges) {
    const a = at(edge.from), b = at(edge.to);
    let d, middle;
    if (edge.back) {
      const low = upright ? width - 14 : height - 14;
      d = upright
        ? `M${a.x + BOX.width} ${a.y + 42}C${low} ${a.y + 42} ${low} ${b.y + 42} ${b.x + BOX.width} ${b.y + 42}`
        : `M${a.x + 88} ${a.y + BOX.height}C${a.x + 88} ${low} ${b.x + 88} ${low} ${b.x + 88} ${b.y + BOX.height}`;
    } else if (upright) {
      const [x1, y1, x2, y2] = [a.x + 88, a.y + BOX.height, b.x + 88, b.y];
      d = `M${x1} ${y1}C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`;
      middle = { x: (x1 + x2) / 2 + 8, y: (y1 + y2) / 2 + 4, 'text-anchor': 'start' };
    } else {
      const [x1, y1, x2, y2] = [a.x + BOX.width, a.y + 42, b.x, b.y + 42];
      d = `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;
      middle = { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 6, 'text-anchor': 'middle' };
    }
    picture.append(svg('path', { d, class: edge.back ? 'edge back' : 'edge', 'marker-end': 'url(#tip)' }));
    if (middle) {
      picture.append(text(middle.x, middle.y, edge.combined ? 'combined' : edge.delivery.replace('strict ', ''),
        { class: 'soft on-edge', 'text-anchor': middle['text-anchor'] }));
    }
  }
  graph.nodes.forEach((node, i) => {
    const { x, y } = at(i);
    const group = svg('g', { transform: `translate(${x} ${y})` });
    group.append(svg('title', {}, `${node.name}: busy ${percent(node.busy_share)}, blocked ${percent(node.blocked_share)}`));
    group.append(svg('rect', { width: BOX.width, height: BOX.height, rx: 8,
      class: node === worst && node.busy_share >= 0.7 ? 'box worst' : 'box' }));
    const name = node.name.length > 17 ? node.name.slice(0, 16) + '…' : node.name;
    group.append(text(10, 21, name + (node.replicas > 1 ? ` ×${node.replicas}` : ''), { class: 'name' }));
    group.append(text(10, 40, node.role === 'source' ? rate(node.items_out_per_second) + ' out'
      : node.role === 'sink' ? rate(node.items_in_per_second) + ' in'
      : `${rate(node.items_in_per_second)} → ${rate(node.items_out_per_second)}`));
    const spent = bar(BOX.width - 20, 9, node.busy_share, node.blocked_share);
    spent.setAttribute('x', 10);
    spent.setAttribute('y', 49);
    group.append(spent);
    group.append(text(10, 75, `busy ${percent(node.busy_share)}` +
      (node.blocked_share >= 0.005 ? `, blocked ${percent(node.blocked_share)}` : ''), { class: 'soft' }));
    picture.append(group);
  });
  holder.replaceChildren(picture);
}

/// Of event time, which is no time of this job.
const eventTime = unix => unix == null ? '–' : new Date(unix * 1000).toISOString().slice(0, 19).replace('T', ' ');

function drawNodes(graph) {
  const timed = graph.nodes.some(node => node.event_time_unix != null);
  table('nodes', ['Node', 'Replicas', 'Time', 'Busy', 'Blocked', 'Idle', 'Items in', 'Items out', 'Bytes out', 'Queued', 'Lag', 'State',
    ...(timed ? ['Event time (UTC)', 'Late'] : [])],
    graph.nodes.map(node => [node.name, String(node.replicas), bar(90, 10, node.busy_share, node.blocked_share),
      percent(node.busy_share), percent(node.blocked_share), percent(Math.max(0, 1 - node.busy_share - node.blocked_share)),
      human(node.items_in), human(node.items_out), bytes(node.bytes_out), String(node.queued), node.lag == null ? '–' : duration(node.lag),
      node.state_bytes ? bytes(node.state_bytes) : '–',
      ...(timed ? [eventTime(node.event_time_unix), human(node.items_late)] : [])]));
}

// ---- charts ---------------------------------------------------------------------------------

function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map(step => step * power).find(step => step >= value);
}

/// Axes of a chart over the time of the job; returns the picture and what maps values to places.
function axes(holder, height, end, top, label, aria) {
  const width = Math.max(260, holder.clientWidth), left = 58, right = width - 10, base = height - 20, head = 8;
  const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': aria });
  const x = time => left + (right - left) * (end > 0 ? time / end : 0);
  const y = value => base - (base - head) * Math.min(1, value / top);
  for (const part of [0, 0.5, 1]) {
    picture.append(svg('line', { x1: left, x2: right, y1: y(part * top), y2: y(part * top), class: 'grid' }));
    picture.append(text(left - 6, y(part * top) + 4, label(part * top), { class: 'axis', 'text-anchor': 'end' }));
  }
  const ticks = width < 500 ? 2 : 4;
  for (let i = 0; i <= ticks; i += 1) {
    const time = end * i / ticks;
    picture.append(text(x(time), height - 4, duration(time), { class: 'axis',
      'text-anchor': i === 0 ? 'start' : i === ticks ? 'end' : 'middle' }));
  }
  return { picture, x, y, base };
}

function drawThroughput(data, job, failures) {
  const holder = $('throughput');
  if (data.at.length < 2) { holder.replaceChildren(make('p', { class: 'none' }, recorded ? 'Too short a time to be drawn.' : 'After two seconds.')); return; }
  const top = ceiling(Math.max(...data.in, ...data.out, 1));
  const last = data.at.length - 1;
  const { picture, x, y } = axes(holder, 170, job.at, top, value => human(value),
    `Items a second over ${duration(job.at)}: now ${rate(data.in[last])} from the sources and ${rate(data.out[last])} into the sinks`);
  for (const name of ['in', 'out']) {
    const points = data.at.map((time, i) => `${x(time).toFixed(1)},${y(data[name][i]).toFixed(1)}`);
    picture.append(svg('polyline', { points: points.join(' '), class: 'l-' + name }));
  }
  for (const failure of failures) {
    const mark = svg('line', { x1: x(failure.noticed_at), x2: x(failure.noticed_at), y1: 8, y2: 150, class: 'mark' });
    mark.append(svg('title', {}, 'failure at ' + duration(failure.noticed_at)));
    picture.append(mark);
  }
  holder.replaceChildren(picture);
}

function savepointLine(one) {
  if (!one) return '';
  if (one.state === 'under way') return ` Savepoint ${one.name} is being taken.`;
  return one.state === 'done' ? ` Savepoint ${one.name} is snapshot ${one.snapshot}.`
    : ` There is no savepoint ${one.name}: ${one.why}.`;
}

function drawSnapshots(data, job) {
  const rows = data.snapshots, last = job.snapshots.last;
  say('snapshots-line', job.snapshots.every === null ? 'None are taken: a process that is lost ends the job.'
    : `${count(job.snapshots.taken, 'snapshot', 'snapshots')}, ${job.snapshots.failed} failed; one every ${duration(job.snapshots.every)}` +
      (last ? `. The last one, ${last.snapshot}: ${bytes(last.bytes)} in ${duration(last.took)}, ${duration(Math.max(0, job.at - last.at))} ago.` : '.') +
      savepointLine(job.savepoint));
  $('snapshots-more').hidden = rows.length === 0;
  const holder = $('snapshots');
  if (rows.length === 0) { holder.replaceChildren(); return; }
  const good = rows.filter(row => row.failed === null);
  const charts = [['took', duration, 'Duration'], ['bytes', bytes, 'Size']].map(([field, words, name]) => {
    const top = field === 'took' ? ceiling(Math.max(...good.map(row => row.took), 0.0001)) : ceiling(Math.max(...good.map(row => row.bytes), 1));
    const { picture, x, y, base } = axes(holder, 96, job.at, top, words,
      `${name} of each snapshot; the table has the same`);
    picture.append(text(62, 18, name, { class: 'soft' }));
    const width = Math.max(2, Math.min(8, 0.7 * holder.clientWidth / (rows.length + 1)));
    for (const row of rows) {
      const high = row.failed === null ? Math.max(1.5, base - y(row[field])) : 12;
      const one = svg('rect', { x: x(row.at) - width / 2, y: base - high, width, height: high,
        class: row.failed === null ? 's-good' : 's-bad' });
      one.append(svg('title', {}, `snapshot ${row.snapshot} at ${duration(row.at)}: ` +
        (row.failed === null ? `${bytes(row.bytes)} in ${duration(row.took)}` : 'failed: ' + row.failed)));
      picture.append(one);
    }
    return picture;
  });
  holder.replaceChildren(...charts);
  if ($('snapshots-more').open || recorded) {
    table('snapshots-table', ['Snapshot', 'At', 'Took', 'Size', 'Outcome'], rows.slice(-100).reverse().map(row =>
      [String(row.snapshot), duration(row.at), row.failed === null ? duration(row.took) : '–',
        row.failed === null ? bytes(row.bytes) : '–', row.failed === null ? 'complete' : 'failed: ' + row.failed]));
  }
}

// ---- failures -------------------------------------------------------------------------------

function describe(failure) {
  const first = failure.losses[0];
  const more = failure.losses.length > 1 ? ` and ${failure.losses.length - 1} more` : '';
  const who = first ? (first.replicas && first.replicas !== first.who ? `${first.who} (${first.replicas})` : first.who) : 'a failure';
  return { who: who + more, first };
}

function failureRow(failure) {
  const { who, first } = describe(failure);
  const after = failure.running_after === null
    ? (failure.epoch === null ? 'no recovery' : 'not running again yet')
    : `running again after ${duration(failure.running_after)}`;
  const head = make('summary', {}, make('b', {}, duration(failure.noticed_at)), ` ${who}: ${first ? first.how : ''}; ${after}`);
  const list = [];
  for (const loss of failure.losses) {
    list.push(['Who', loss.replicas && loss.replicas !== loss.who ? `${loss.who}: ${loss.replicas}` : loss.who]);
    list.push(['Noticed by', NOTICED[loss.cause] || loss.cause]);
    list.push(['What', loss.how]);
    if (loss.killed_at !== null) list.push(['Killed on order', `noticed after ${duration(loss.at - loss.killed_at)}`]);
  }
  if (failure.epoch !== null) {
    list.push(['Went back to', failure.snapshot === null ? 'the beginning' : `snapshot ${failure.snapshot}`]);
    list.push(['Redone', count(failure.items_redone, 'item', 'items')]);
    list.push(['Recovery began', 'after ' + duration(failure.recovering_after)]);
    list.push(['All ran again', failure.running_after === null ? 'not yet' : 'after ' + duration(failure.running_after)]);
    list.push(['First new item out', failure.first_out_after === null ? 'not yet' : 'after ' + duration(failure.first_out_after)]);
    list.push(['Epoch', String(failure.epoch)]);
  }
  return { head, body: pairs(list), key: JSON.stringify(failure) };
}

const shownFailures = new Map();
function drawFailures(data) {
  const holder = $('failures');
  if (data.failures.length === 0) { holder.replaceChildren(make('p', { class: 'none' }, 'None.')); shownFailures.clear(); return; }
  holder.querySelectorAll(':scope > p').forEach(node => node.remove());
  if (data.count > data.failures.length) holder.prepend(make('p', { class: 'none' }, `The last ${data.failures.length} of ${data.count}.`));
  const alive = new Set();
  for (const failure of data.failures) {
    const id = failure.noticed_at + '/' + (failure.losses[0] ? failure.losses[0].who : '');
    alive.add(id);
    const row = failureRow(failure);
    let shown = shownFailures.get(id);
    if (!shown) {
      shown = { node: make('details', { class: 'event' }), key: '' };
      shownFailures.set(id, shown);
      holder.append(shown.node);
      // A report is for reading.
      shown.node.open = Boolean(recorded) && data.failures.length <= 5;
    }
    if (shown.key !== row.key) { shown.node.replaceChildren(row.head, row.body); shown.key = row.key; }
  }
  for (const [id, shown] of shownFailures) if (!alive.has(id)) { shown.node.remove(); shownFailures.delete(id); }
}

// ---- all the rest ---------------------------------------------------------------------------

function drawSummary(job) {
  const last = job.snapshots.last;
  const tiles = [
    ['Time', duration(job.at), 'since ' + clock(job.started_at_unix)],
    ['From the sources', rate(job.items_in_per_second), `${human(job.items)} items, ${bytes(job.bytes)}`],
    ['Into the sinks', rate(job.items_out_per_second), ''],
    ['Read', job.read === null ? '–' : percent(job.read), job.read === null ? 'the sources do not know' : 'of the input'],
    ['Last snapshot', last ? duration(Math.max(0, job.at - last.at)) + ' ago' : '–', last ? `${bytes(last.bytes)} in ${duration(last.took)}` : job.snapshots.every === null ? 'none are taken' : ''],
    ['Failures', String(job.failures), `${count(job.items_redone, 'item', 'items')} redone`],
  ];
  $('summary').replaceChildren(...tiles.map(([name, value, small]) => {
    const tile = make('div', name === 'Failures' && job.failures ? { class: 'bad' } : {}, make('dt', {}, name), make('dd', {}, value));
    if (small) tile.lastChild.append(make('small', {}, small));
    return tile;
  }));
  say('bottleneck', job.bottleneck ? `Bottleneck: ${job.bottleneck}.` : '');
}

function drawHead(job) {
  say('program', job.program || 'Piracema');
  say('command', job.command.join(' '));
  const over = job.over ? (job.code === 0 ? 'done' : job.code === 75 ? 'stopped with a snapshot' : `ended with code ${job.code}`) : job.phase;
  say('phase', over);
  $('phase').className = 'phase ' + (job.over ? (job.code === 0 || job.code === 75 ? 'good' : 'bad') : job.phase === 'running' ? 'good' : 'change');
  document.title = `${over}: ${job.program} – Piracema`;
  if (job.over && job.why) { say('stale', job.why); $('stale').hidden = false; }
  $('stop').hidden = Boolean(recorded) || job.over;
  say('stop', job.snapshots.every === null ? 'Stop the job' : 'Stop with a snapshot');
  say('footer', `Piracema ${job.version} · ${count(job.workers, 'process', 'processes')}, ${job.processes_started} started · ${count(job.cores, 'core', 'cores')} where the coordinator runs`);
}

function drawHosts(data, job) {
  const rows = [];
  for (const host of data.hosts) {
    if (host.workers.length === 0) {
      rows.push(['–', host.name, '–', `host ${host.state}, for ${duration(Math.max(0, job.at - host.since))}`, '–', '–', '–', '']);
    }
    for (const worker of host.workers) {
      rows.push([`worker ${worker.worker}`, host.state === null || host.state === 'here' || job.over ? host.name : `${host.name} (${host.state})`, String(worker.pid), worker.joined || job.over ? (job.over ? 'ended' : 'in the job') : 'lost, being replaced',
        String(worker.incarnation), duration(worker.cpu), worker.joined ? duration(Math.max(0, job.at - worker.heard_at)) + ' ago' : '–', worker.replicas]);
    }
  }
  rows.sort((a, b) => a[0].localeCompare(b[0], 'en', { numeric: true }));
  $('ways').replaceChildren(...data.broadcasts.map(way => make('li', {}, `What worker ${way.worker} sends to all of ${way.node} goes from ${way.tree}`)));
  table('hosts', ['Process', 'Host', 'PID', 'State', 'Replaced', 'CPU', 'Heard', 'Replicas'], rows, 2);
  $('hosts').querySelectorAll('tr > :last-child').forEach(cell => { cell.className = 'wide'; });
}

function drawReplicas(data) {
  say('replicas-line', count(data.count, 'replica', 'replicas') + (data.count > data.replicas.length ? `, the first ${data.replicas.length} of them` : ''));
  if (!$('replicas-more').open && !recorded) return;
  table('replicas', ['Replica', 'Process', 'Time', 'Busy', 'Blocked', 'Items in', 'In/s', 'Items out', 'Out/s', 'Queued', 'State'],
    data.replicas.map(one => [one.name + (one.ended ? ' (ended)' : ''), String(one.worker), bar(90, 10, one.busy_share, one.blocked_share),
      percent(one.busy_share), percent(one.blocked_share), human(one.items_in), rate(one.items_in_per_second),
      human(one.items_out), rate(one.items_out_per_second), String(one.queued), one.state_bytes ? bytes(one.state_bytes) : '–']));
}

function drawSettings(job) {
  const wanted = JSON.stringify(job.settings);
  if ($('settings').dataset.shown === wanted) return;
  $('settings').dataset.shown = wanted;
  $('settings').replaceChildren(...pairs(Object.entries(job.settings)).childNodes);
}

let newest = null;
function draw(all) {
  newest = all;
  drawHead(all.job);
  drawSummary(all.job);
  drawGraph(all.graph);
  drawNodes(all.graph);
  drawThroughput(all.throughput, all.job, all.failures.failures);
  drawFailures(all.failures);
  drawSnapshots(all.snapshots, all.job);
  drawHosts(all.hosts, all.job);
  drawReplicas(all.replicas);
  drawSettings(all.job);
  drawLines(all.log.lines);
  document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
}

// ---- asking ---------------------------------------------------------------------------------

async function stop() {
  if (!confirm('Stop this job?')) return;
  $('stop').disabled = true;
  try {
    const response = await fetch('/api/v1/stop', { method: 'POST', headers: { 'X-Piracema': '1' } });
    say('stopped', response.ok ? 'The job is stopping.' : response.status === 401
      ? 'Only with the address that the command has printed, which has the token.' : (await response.text()).trim());
    if (!response.ok) $('stop').disabled = false;
  } catch {
    say('stopped', 'No answer.');
    $('stop').disabled = false;
  }
}

$('stop').addEventListener('click', stop);
for (const id of ['snapshots-more', 'replicas-more']) {
  $(id).addEventListener('toggle', () => { if (newest) draw(newest); });
}
window.addEventListener('resize', () => { if (newest) draw(newest); });
function drawNewest(all) {
  draw(all);
  $('stale').hidden = !all.job.over;
}
function nobodyAnswers(since) {
  $('stop').hidden = true;
  if (newest && newest.job.over) return;
  showTrouble(`No answer${since}. The job is over, or cannot be reached.`);
}
if (recorded) draw(recorded); else follow('/api/v1/all', drawNewest, nobodyAnswers);
