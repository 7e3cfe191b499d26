import { parse } from 'yaml'
import { z } from 'zod'
import type { Check, Finding, RepositoryFile } from './finding.ts'

const page = 'docs/operating/metrics.md'
const runbook = 'docs/operating/runbook.md'
const rulesPattern = /^configs\/alerts\/[^/]+(?<!\.test)\.yaml$/
const testsPattern = /^configs\/alerts\/[^/]+\.test\.yaml$/
const dashboardPattern = /^configs\/dashboards\/[^/]+\.json$/
/** Metrics that Prometheus itself adds to a target. */
const ofPrometheus: ReadonlySet<string> = new Set(['up'])

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.object({ summary: z.string().min(10), runbook: z.string() }),
        }),
      ),
    }),
  ),
})
const testsSchema = z.object({ tests: z.array(z.object({ name: z.string() })) })
const dashboardSchema = z.object({
  uid: z.string().min(1),
  panels: z.array(
    z.object({
      id: z.number(),
      type: z.enum(['row', 'timeseries']),
      targets: z.array(z.object({ expr: z.string() })).optional(),
    }),
  ),
})

type Rule = z.infer<typeof rulesSchema>['groups'][number]['rules'][number] & { readonly file: string }

/**
 * Nobody is woken by an alert that means nothing, and none is silent because what it watches was renamed: every metric
 * that a rule or a dashboard names is on the page of metrics, which a test compares with running services; every alert
 * has a runbook entry, a test that it fires and one that it stays silent; and the page says which alerts use a metric.
 */
export const alertsCheck: Check = { name: 'alerts', find: findBrokenAlerts }

function findBrokenAlerts(files: readonly RepositoryFile[]): readonly Finding[] {
  const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? ''
  const listed = listedMetrics(textOf(page))
  const rules = files.filter(({ path }) => rulesPattern.test(path)).flatMap(rulesOf)
  const tests = files
    .filter(({ path }) => testsPattern.test(path))
    .flatMap(({ text }) => testsSchema.parse(parse(text)).tests.map(({ name }) => name))
  const panels = files.filter(({ path }) => dashboardPattern.test(path)).map(dashboardOf)
  const entries = [...textOf(runbook).matchAll(/^### (\S+)$/gm)].map(([, name = '']) => name)
  const named = [...rules, ...panels.flatMap(({ file, exprs }) => exprs.map((expr) => ({ file, expr })))]
  return [
    ...named.flatMap(({ file, expr }) =>
      metricsIn(expr)
        .filter((metric) => !listed.has(metric) && !ofPrometheus.has(metric))
        .map((metric) => ({ file, problem: `${metric} is not in ${page}` })),
    ),
    ...rules.flatMap((rule) => ruleProblems(rule, entries, tests)),
    ...repeated(rules.map(({ alert }) => alert)).map((name) => ({
      file: runbook,
      problem: `${name} is two alerts`,
    })),
    ...entries
      .filter((name) => !rules.some(({ alert }) => alert === name))
      .map((name) => ({ file: runbook, problem: `${name} is no alert` })),
    ...[...listed].flatMap(([metric, told]) => {
      const users = rules.filter(({ expr }) => metricsIn(expr).includes(metric)).map(({ alert }) => alert)
      return sameNames(users, told)
        ? []
        : [{ file: page, problem: `${metric} is used by ${users.join(', ') || 'no alert'}` }]
    }),
    ...panels.flatMap(({ file, problems }) => problems.map((problem) => ({ file, problem }))),
    ...repeated(panels.map(({ uid }) => uid)).map((uid) => ({
      file: dashboards,
      problem: `${uid} is two dashboards`,
    })),
  ]
}

const dashboards = 'configs/dashboards'

function rulesOf({ path: file, text }: RepositoryFile): readonly Rule[] {
  return rulesSchema
    .parse(parse(text))
    .groups.flatMap(({ rules }) => rules.map((rule) => ({ ...rule, file })))
}

function ruleProblems(
  { file, alert, annotations }: Rule,
  entries: readonly string[],
  tests: readonly string[],
): readonly Finding[] {
  const anchor = `${runbook}#${alert.toLowerCase()}`
  const missing = [
    ...(entries.includes(alert) ? [] : [`${alert} has no entry in ${runbook}`]),
    ...(annotations.runbook === anchor ? [] : [`${alert} must point at ${anchor}`]),
    ...['fires', 'stays silent']
      .filter((word) => !tests.includes(`${alert} ${word}`))
      .map((word) => `no test says that ${alert} ${word}`),
  ]
  return missing.map((problem) => ({ file, problem }))
}

function dashboardOf({ path: file, text }: RepositoryFile) {
  const { uid, panels } = dashboardSchema.parse(JSON.parse(text))
  return {
    file,
    uid,
    exprs: panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    problems: repeated(panels.map(({ id }) => String(id))).map((id) => `two panels have the id ${id}`),
  }
}

/** The names of alerts behind each metric of the page. */
function listedMetrics(text: string): ReadonlyMap<string, readonly string[]> {
  const lines = [...text.matchAll(/^- `([a-z_]+)(?:\{[^}]*\})?`(.*)$/gm)]
  return new Map(
    lines.map(([, name = '', told = '']) => [
      name,
      [...told.matchAll(/\[(\w+)\]\(runbook\.md#\w+\)/g)].map(([, alert = '']) => alert),
    ]),
  )
}

const keywords: ReadonlySet<string> = new Set(['and', 'or', 'unless', 'on', 'by', 'bool', 'offset'])

/** Names of metrics in an expression of Prometheus; of a histogram without the suffix of its series. */
export function metricsIn(expr: string): readonly string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
  const words = [...bare.matchAll(/\b([a-z_][a-z0-9_]*)\b(?!\s*\()/g)].map(([, word = '']) => word)
  const names = words.filter((word) => !keywords.has(word))
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))]
}

function repeated(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) < index))]
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return [...one].sort().join() === [...other].sort().join()
}
