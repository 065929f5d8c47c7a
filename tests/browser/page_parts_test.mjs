// Parts of the report page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Clock } from '../../src/report/page/clock.js';
import { endOf, textFor } from '../../src/report/page/words.js';

test('what is said of an end has no word of the language in it, whatever a run says', () => {
  for (const continuation of ['clip', 'cycle', 'walk', 'still', 'a_later_one', undefined, null, 'constructor']) {
    for (const seconds of [3, 0, undefined, NaN]) {
      const text = endOf({ verdict: 'viable', seconds, continuation });
      assert.match(text, /^viable: .*on the feet/);
      assert.doesNotMatch(text, /undefined|null|NaN|function|object/, text);
    }
  }
  assert.equal(endOf({ verdict: 'viable', seconds: 3, continuation: 'walk' }), 'viable: 3.0 s more on the feet with the walk of the toolkit');
  assert.equal(endOf({ verdict: 'not viable', reason: 'it falls' }), 'not viable: it falls');
  assert.equal(endOf({ verdict: 'not applicable' }), 'not applicable');
  assert.equal(textFor({ fall: 'a fall' }, 'get_up'), 'get up');
});

test('the clock stays within the motion, whatever time goes by', () => {
  for (const loop of [true, false]) {
    const clock = new Clock(2, 1 / 240);
    clock.loop = loop;
    clock.play();
    for (const elapsed of [-0.5, -1e-3, 0, NaN, 0.1, -10, 0.016, 5]) {
      clock.advance(elapsed);
      assert.ok(clock.time >= 0 && clock.time <= 2, `${clock.time} after ${elapsed}`);
    }
    for (const time of [-1, 3, NaN, Infinity, -Infinity]) {
      clock.set(time);
      assert.ok(clock.time >= 0 && clock.time <= 2, `${clock.time} after set(${time})`);
    }
  }
});

test('what charts show stays within the motion, and holds the time', () => {
  const clock = new Clock(2, 1 / 60);
  assert.deepEqual(clock.view, { start: 0, end: 2 });
  clock.set(1);
  clock.zoom(0.5);
  assert.deepEqual(clock.view, { start: 0.5, end: 1.5 });
  clock.set(1.8);
  assert.ok(clock.view.start > 0.5 && clock.view.end <= 2 && clock.view.end - clock.view.start > 0.999);
  clock.set(0);
  assert.equal(clock.view.start, 0);
  for (const [from, to] of [[1.9, 9], [-3, 0.2], [1.2, 1.2], [NaN, 1], [0, 2], [1.5, 0.5]]) {
    clock.show(from, to);
    const { start, end } = clock.view;
    assert.ok(start >= 0 && end <= 2 + 1e-9 && end > start, `${start} to ${end}`);
  }
  clock.zoom(100);
  assert.deepEqual(clock.view, { start: 0, end: 2 });
});
