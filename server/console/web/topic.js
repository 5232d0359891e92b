// What the pages of topics and subscriptions show besides messages.
import { el, fill, changed, run, count, empty, table, pager, plural } from './lib.js';
import { columns, numbers, entities, link } from './entities.js';
import { ruleLines, ruleTexts } from './rules.js';

const shown = 50; // subscriptions of a page
const named = 3; // rules of each
const most = 100; // rules on the page of a subscription

// subscriptions is the list of the subscriptions of a topic. show draws it anew.
export function subscriptions(db) {
  const title = el('h2', {}),
    list = el('div', {});
  let at = 0;
  const show = async names => {
    if (at >= names.length) at = 0;
    const part = names.slice(at, at + shown);
    const [what, stats] = await Promise.all([
      entities(db, part).catch(() => new Map()),
      Promise.all(part.map(name => run(db, { mqStats: name }).catch(() => ({})))),
    ]);
    title.textContent = plural(names.length, 'subscription');
    if (!changed(list, [names.length, part, [...what], stats])) return;
    const turn = by => () => {
      at += by;
      return show(names);
    };
    fill(
      list,
      part.length
        ? table(
            ['Subscription', 'Rules', ...columns],
            part.map((name, i) => [
              link(db, name),
              ruleLines(what.get(name)?.rules, named),
              ...numbers(stats[i]),
            ]),
            'Subscriptions',
          )
        : empty('Nobody has subscribed: messages of this topic go nowhere.'),
      names.length > shown &&
        pager(
          at && turn(-shown),
          `${at + 1} to ${at + part.length} of ${count(names.length)}`,
          at + shown < names.length && turn(shown),
        ),
    );
  };
  return { card: el('section', { class: 'card' }, title, list), show };
}

// rules is the list of the rules of a subscription. show draws it anew.
export function rules() {
  const list = el('div', {});
  const show = all => {
    if (!changed(list, all)) return;
    fill(
      list,
      all.length
        ? table(
            ['Rule', 'Selects', 'Changes'],
            all.slice(0, most).map(r => {
              const [selects, then] = ruleTexts(r);
              return [
                el('b', {}, r.name),
                selects,
                then ?? el('span', { class: 'muted' }, 'nothing'),
              ];
            }),
            'Rules',
          )
        : empty('Without rules the subscription gets no message.'),
      all.length > most &&
        el('p', { class: 'muted small' }, `and ${plural(all.length - most, 'more rule')}`),
    );
  };
  return {
    card: el('section', { class: 'card' }, el('h2', {}, 'Rules'), list),
    show,
  };
}
