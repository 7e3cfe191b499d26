import { expect, test } from 'vitest'
import { alertsCheck, metricsIn } from './alerts.ts'

const rule = (expr: string, name = 'Late') => ({
  path: 'configs/alerts/a.yaml',
  text: `groups:
  - name: a
    rules:
      - alert: ${name}
        expr: '${expr}'
        labels: { severity: warning }
        annotations:
          summary: Something is late
          runbook: docs/operating/runbook.md#${name.toLowerCase()}`,
})
const tested = (words: readonly string[]) => ({
  path: 'configs/alerts/a.test.yaml',
  text: `tests:\n${words.map((word) => `  - name: Late ${word}`).join('\n')}`,
})
const page = (users: string) => ({
  path: 'docs/operating/metrics.md',
  text: `- \`age_seconds{chain}\`: Since then. ${users}`,
})
const runbook = (text = '### Late') => ({ path: 'docs/operating/runbook.md', text })
const dashboard = (expr: string, id = 2) => ({
  path: 'configs/dashboards/a.json',
  text: JSON.stringify({
    uid: 'a',
    panels: [
      { id: 1, type: 'row' },
      { id, type: 'timeseries', targets: [{ expr }] },
    ],
  }),
})
const used = page('[Late](runbook.md#late)')
const whole = [
  rule('age_seconds > 1'),
  tested(['fires', 'stays silent']),
  used,
  runbook(),
  dashboard('age_seconds'),
]
const problemsOf = (files: typeof whole) => alertsCheck.find(files).map(({ problem }) => problem)

test('accepts alerts, pages, tests and dashboards that fit together', () => {
  expect(problemsOf(whole)).toEqual([])
})

test.each<[string, typeof whole, string]>([
  [
    'a rule whose metric was renamed',
    [rule('old_seconds > 1'), ...whole.slice(1, 2), page(''), runbook()],
    'old_seconds is not in docs/operating/metrics.md',
  ],
  [
    'a dashboard whose metric was renamed',
    [...whole.slice(0, 4), dashboard('sum(rate(gone_total[5m]))')],
    'gone_total is not in docs/operating/metrics.md',
  ],
  [
    'an alert without an entry',
    [...whole.slice(0, 3), runbook('')],
    'Late has no entry in docs/operating/runbook.md',
  ],
  [
    'an entry without an alert',
    [...whole, runbook()].map((file) =>
      file.path.endsWith('runbook.md') ? runbook('### Late\n### Early') : file,
    ),
    'Early is no alert',
  ],
  [
    'an alert that no test makes fire',
    [rule('age_seconds > 1'), tested(['stays silent']), used, runbook()],
    'no test says that Late fires',
  ],
  [
    'an alert that no test keeps silent',
    [rule('age_seconds > 1'), tested(['fires']), used, runbook()],
    'no test says that Late stays silent',
  ],
  [
    'a page that does not say which alerts use a metric',
    [...whole.slice(0, 2), page(''), runbook()],
    'age_seconds is used by Late',
  ],
  ['two panels of one id', [...whole.slice(0, 4), dashboard('age_seconds', 1)], 'two panels have the id 1'],
])('refuses %s', (_what, files, problem) => {
  expect(problemsOf(files)).toContain(problem)
})

test.each([
  ['sum by (chain) (rate(a_total{code=~"x|y"}[5m])) / b_seconds > 0.5', ['a_total', 'b_seconds']],
  ['histogram_quantile(0.9, sum by (le) (rate(c_seconds_bucket[5m]))) > 1', ['c_seconds']],
  ['time() - d and on (x, y) group_left () e unless f == 1', ['d', 'e', 'f']],
])('finds the metrics of %s', (expr, names) => {
  expect(metricsIn(expr)).toEqual(names)
})
