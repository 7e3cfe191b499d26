// Goal: rules, metrics and dashboards are what Prometheus takes. Method: `promtool` over our files, and over what
// running services expose.
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Prometheus, promtool, ruleFiles, startPrometheus } from '../support/prometheus.ts'
import { type SessionBed, startSessionBed } from '../support/sessionBed.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const rulesFolder = fileURLToPath(new URL('../../configs/alerts/', import.meta.url))
const dashboards = fileURLToPath(new URL('../../configs/dashboards/', import.meta.url))
const dashboardSchema = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).optional() })),
})
let bed: SessionBed
let prometheus: Prometheus

beforeAll(async () => {
  bed = await startSessionBed()
  prometheus = await startPrometheus(bed.targets)
})
afterAll(async () => {
  await prometheus?.stop()
  await bed?.stop()
})

test('every rule file is one, and its tests hold: each alert fires on its fault and not on what is healthy', async () => {
  const files = await ruleFiles()
  expect(files.length).toBeGreaterThan(4)
  expect(await promtool(['check', 'rules', ...files])).toContain('SUCCESS')
  for (const file of files) await promtool(['test', 'rules', file.replace('.yaml', '.test.yaml')])
})

test('a file beside this one waits for each alert to fire on a fault that really is there', async () => {
  const rules = await Promise.all(
    (await ruleFiles()).map((name) => readFile(`${rulesFolder}${name}`, 'utf8')),
  )
  const names = rules.flatMap((text) => [...text.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name))
  const files = (await readdir(here)).filter((name) => name.endsWith('.test.ts'))
  const texts = await Promise.all(files.map((name) => readFile(`${here}${name}`, 'utf8')))
  const waited = new Set(
    texts.flatMap((text) => [...text.matchAll(/fires\((?:prometheus, )?'(\w+)'/g)].map(([, name]) => name)),
  )
  expect(names.length).toBeGreaterThan(40)
  expect(names.filter((name) => !waited.has(name))).toEqual([])
})

test('promtool finds nothing in the metrics of any service', async () => {
  for (const { name, opsUrl } of bed.targets) {
    const text = await (await fetch(`${opsUrl}/metrics`)).text()
    expect(await promtool(['check', 'metrics'], text), name).toBe('')
  }
})

describe('dashboards', async () => {
  const files = (await readdir(dashboards)).filter((name) => name.endsWith('.json'))
  test.each(files)('%s asks nothing that Prometheus cannot read', async (file) => {
    const { panels } = dashboardSchema.parse(JSON.parse(await readFile(`${dashboards}${file}`, 'utf8')))
    const exprs = panels.flatMap(({ targets: asked = [] }) => asked.map(({ expr }) => expr))
    expect(exprs.length).toBeGreaterThan(5)
    for (const expr of exprs) await prometheus.query(expr.replaceAll('$__rate_interval', '20s'))
  })
})
