// Draws what /api/v1/job says, once a second.
'use strict';

const SHOWN = 100;
const ms = seconds => seconds === null ? '–' : duration(seconds);
const signed = seconds => seconds === null ? '–' : seconds < 0 ? '−' + duration(-seconds) : duration(seconds);
const site = (job, rank) => job.sites ? job.sites.of_rank[rank] : null;
const host = (job, rank) => job.host_of.length ? job.hosts[job.host_of[rank]] : '–';
const upTo = most => most === null ? 'more' : most >= 1048576 ? `${most / 1048576} MiB` : `${most / 1024} KiB`;

function gainedTile(job) {
  const both = job.calls.by_class.some(one => one.gained !== null);
  if (!both) return ['Gained', '–', job.calls.by_class.length ? 'only one way was tried' : 'nothing is known yet', false];
  return ['Gained', signed(job.gained), job.gained < 0 ? 'trees take longer than native calls' : 'against native calls, as measured', job.gained < 0];
}

function drawSummary(one) {
  const job = one.job;
  if (!job) { $('summary').replaceChildren(make('div', {}, make('dt', {}, 'Ranks'), make('dd', {}, '–'))); return; }
  const calls = job.calls;
  const tiles = [
    ['Engine', job.engine, job.left_alone ? `left alone: ${job.left_alone}` : one.mpi, false],
    ['Ranks', human(job.ranks), job.hosts.length ? `on ${count(job.hosts.length, 'host', 'hosts')}` : `rank 0 on ${job.host_of_rank_0}`, false],
    ['Calls of rank 0', human(calls.of_rank_0), `${calls.intercepted.toLocaleString('en')} looked at`, false],
    ['Along trees', calls.of_rank_0 ? percent(calls.ours / calls.of_rank_0) : '–', count(calls.ours, 'call', 'calls'), false],
    gainedTile(job),
    ['Links measured', `${human(job.pairs_measured)} of ${human(job.pairs)}`, 'pairs of ranks', job.pairs > 0 && job.pairs_measured === 0 && job.ran > 3],
  ];
  if (job.mst) tiles.push(['Rounds', human(job.mst.rounds), `${job.mst.letters.toLocaleString('en')} letters of rank 0`, false]);
  else tiles.push(['Trees', human(job.trees_made), 'came into use at rank 0', false]);
  $('summary').replaceChildren(...tiles.map(([name, value, small, bad]) =>
    make('div', bad ? { class: 'bad' } : {}, make('dt', {}, name), make('dd', {}, value, make('small', {}, small)))));
}

function drawRemarks(job) {
  const remarks = job ? [...job.remarks] : [];
  if (job && job.gained < 0) remarks.unshift(`Trees took ${duration(-job.gained)} longer than the MPI library's own collectives, as measured; --engine native leaves all to it.`);
  $('remarks').replaceChildren(...(remarks.length
    ? remarks.map(words => make('p', { class: 'words' }, words))
    : [make('p', { class: 'none' }, 'Nothing.')]));
}

function drawCalls(job) {
  const rows = job ? job.calls.by_class : [];
  if (!rows.length) {
    $('calls').replaceChildren($('calls').caption, make('tbody', {}, make('tr', {}, make('td', { class: 'none' }, 'None yet.'))));
    return;
  }
  const each = (took, number) => number ? ms(took / number) : '–';
  table('calls', ['Call', 'Up to', 'Ours', 'Each', 'Native', 'Each', 'Gained', 'Now'], rows.map(row =>
    [row.call, upTo(row.bytes_max), row.ours.toLocaleString('en'), each(row.ours_took, row.ours), row.native.toLocaleString('en'),
      each(row.native_took, row.native), signed(row.gained), row.go]));
}

const byRank = list => new Map(list.map((value, rank) => [rank, value]));

/// What is drawn: the newest tree of rank 0, or with engine mst the distributed one; before all ranks have told of
/// that, what rank 0 knows itself.
function treeOf(job) {
  if (job.mst && job.mst.parents) {
    return { parents: byRank(job.mst.parents), latencies: byRank(job.mst.latencies), words: `The distributed tree as it hangs from rank 0; ${count(job.mst.rounds, 'round is', 'rounds are')} over.` };
  }
  if (job.mst && job.mst.neighbours.length) {
    const parents = new Map([[0, -1]]), latencies = new Map();
    for (const one of job.mst.neighbours) { parents.set(one.rank, 0); latencies.set(one.rank, one.cost); }
    return { parents, latencies, words: `Round ${job.mst.rounds}: rank 0 and its neighbours. Not all ranks have told of theirs yet.` };
  }
  const newest = job.trees[0];
  if (!newest) return null;
  const tried = job.engine === 'auto' && !job.calls.by_class.some(one => one.go === 'trees');
  const times = newest.expected > 0 ? newest.binomial / newest.expected : 1;
  return { parents: byRank(newest.parents), latencies: byRank(newest.latencies),
    words: `${tried ? 'Tried, and not in use now. ' : ''}Broadcasts of rank 0, of some ${bytes(newest.bytes)}, since ${duration(newest.at)} after MPI_Init: expected to take ${ms(newest.expected)}; ` +
      `a binomial tree ${ms(newest.binomial)}, ${times.toFixed(1)} times as long.` };
}

/// Each rank right of its parent; leaves one below the other.
function drawTree(job) {
  const tree = job ? treeOf(job) : null;
  $('tree-list').hidden = !tree;
  if (!tree) {
    say('tree-words', job && job.left_alone ? 'None: all is left to the MPI library.' : 'None yet: no call of rank 0 went along one.');
    $('tree').replaceChildren();
    return;
  }
  say('tree-words', tree.words);
  const children = new Map([...tree.parents.keys()].map(rank => [rank, []]));
  for (const [rank, parent] of tree.parents) if (parent >= 0) children.get(parent).push(rank);
  const places = new Map();
  const step = 24, wide = 130;
  let lines = 0, deepest = 0;
  // Not by recursion: a chain of a thousand ranks is a tree.
  const stack = [[0, 0]], order = [];
  while (stack.length) {
    const [rank, depth] = stack.pop();
    order.push(rank);
    deepest = Math.max(deepest, depth);
    const below = children.get(rank);
    places.set(rank, { x: 24 + depth * wide, y: below.length ? null : 18 + step * lines });
    if (!below.length) lines += 1;
    for (const child of [...below].reverse()) stack.push([child, depth + 1]);
  }
  for (const rank of [...order].reverse()) {
    const below = children.get(rank);
    if (below.length) places.get(rank).y = (places.get(below[0]).y + places.get(below[below.length - 1]).y) / 2;
  }
  const width = 80 + deepest * wide, height = 18 + step * lines;
  const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `A tree of ${count(tree.parents.size, 'rank', 'ranks')} from rank 0; the table below has the parents` });
  picture.style.maxWidth = 'none';
  for (const [rank, parent] of tree.parents) {
    if (parent < 0) continue;
    const from = places.get(parent), to = places.get(rank);
    const far = site(job, parent) !== site(job, rank);
    picture.append(svg('path', { d: `M ${from.x + 15} ${from.y} C ${from.x + 70} ${from.y}, ${to.x - 60} ${to.y}, ${to.x - 15} ${to.y}`, class: far ? 'edge back' : 'edge', 'data-parent': parent, 'data-rank': rank }));
    const latency = tree.latencies.get(rank);
    if (latency !== null && latency !== undefined) picture.append(text(to.x - 20, to.y - 3, ms(latency), { class: 'soft on-edge', 'text-anchor': 'end' }));
  }
  for (const rank of order) {
    const at = places.get(rank);
    picture.append(svg('rect', { x: at.x - 15, y: at.y - 10, width: 30, height: 20, rx: 6, class: 'box' }),
      text(at.x, at.y + 4, String(rank), { 'text-anchor': 'middle' }));
  }
  $('tree').replaceChildren(picture);
  table('parents', ['Rank', 'Parent', 'Latency', 'Site', 'Host'], order.slice(0, 1100).map(rank =>
    [String(rank), tree.parents.get(rank) < 0 ? 'root' : String(tree.parents.get(rank)), ms(tree.latencies.get(rank) ?? null), site(job, rank) === null ? '–' : String(site(job, rank)), host(job, rank)]));
}

function drawLinks(job) {
  const links = job ? job.links : [];
  const rateOf = value => value === null ? '–' : bytes(value) + '/s';
  table('links', ['To rank', 'Latency', 'Off by', 'Rate to', 'Rate from', 'Measured', 'Site', 'Host'], links.slice(0, SHOWN).map(link =>
    [String(link.rank), ms(link.latency), ms(link.error), rateOf(link.rate_to), rateOf(link.rate_from), link.age === null ? 'not yet' : `${duration(link.age)} ago`,
      site(job, link.rank) === null ? '–' : String(site(job, link.rank)), host(job, link.rank)]));
  say('more', links.length > SHOWN ? `And ${links.length - SHOWN} more: /api/v1/job.` : links.length ? '' : 'None are measured.');
  const sites = job ? job.sites : null;
  say('sites', sites ? `${count(sites.count, 'site', 'sites')}, learnt from the links.` : '');
  const rows = sites && sites.latencies && sites.count > 1 ? sites.latencies : [];
  $('h-between').parentElement.hidden = !rows.length;
  if (rows.length) table('between', ['Site', ...rows.map((_, i) => String(i))], rows.map((row, i) => [String(i), ...row.map(ms)]));
}

function draw(one) {
  const name = one.command[0].split('/').pop();
  const bad = !one.ready && one.state === 'running';
  say('title', name);
  say('command', one.command.join(' '));
  say('phase', bad ? 'silent' : one.state);
  $('phase').className = 'phase ' + (bad ? 'bad' : one.state === 'running' ? 'good' : 'change');
  document.title = `${bad ? 'silent' : one.state} – ${name}`;
  $('stale').hidden = one.ready || one.state === 'over';
  if (!one.ready) say('stale', `${one.trouble}.`);
  drawSummary(one);
  drawRemarks(one.job);
  drawCalls(one.job);
  drawTree(one.job);
  drawLinks(one.job);
  say('footer', `Piracema ${one.version} · ${one.job ? `${one.job.library} · rank 0 is process ${one.job.pid_of_rank_0} on ${one.job.host_of_rank_0} · ` : ''}started ${new Date(one.began_at_unix * 1000).toLocaleString('en-GB')}`);
  document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
}

follow('/api/v1/job', draw, since => showTrouble(`No answer${since}. The launcher has ended, or its machine is away.`));
