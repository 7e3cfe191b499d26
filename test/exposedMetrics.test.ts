// Goal: the page of metrics is what services tell, no more and no less. Method: a whole local network; each service
// is scraped and compared with its rows.
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Exposed, readExposed } from './support/exposed.ts'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

const services = ['quote-api', 'oracle', 'solver', 'allocator'] as const

type Row = {
  readonly name: string
  readonly type: string
  /** Configuration without which it is absent. */
  readonly feature: string | undefined
  readonly labels: readonly string[]
  readonly services: readonly string[]
}

const denyList = join(tmpdir(), `causeway-exposed-${process.pid}.txt`)
let bed: SessionBed
let rows: readonly Row[]

beforeAll(async () => {
  await writeFile(
    denyList,
    JSON.stringify({ version: 1, denied: { 'ethereum-vm': [`0x${'de'.repeat(20)}`] } }),
  )
  bed = await startSessionBed({
    DENY_LIST_FILE: denyList,
    RETENTION_QUOTES_DAYS: '400',
    RATE_LIMIT_COUNTING: 'shared',
  })
  rows = readRows(await readFile(new URL('../docs/operating/metrics.md', import.meta.url), 'utf8'))
})
afterAll(() => bed?.stop())

/** Metrics of one service kind; its first service stands for all. */
function exposedBy(kind: string): Promise<readonly Exposed[]> {
  const service = bed.session.services.find(({ plan }) => plan.name === kind || plan.name === `${kind}-1`)
  if (service === undefined) throw new Error(`no ${kind} runs`)
  return readExposed(`http://127.0.0.1:${service.ports['ops']}`)
}

/** The heading of a section names its services; a row may say with which feature alone it is there. */
function readRows(page: string): readonly Row[] {
  return page.split(/^## /m).flatMap((section) => {
    const [heading = '', ...lines] = section.toLowerCase().split('\n')
    return lines.flatMap((line) => {
      const [, name, labels = '', feature] =
        /^- `([a-z_]+)(?:\{(.*?)\})?`(?:: with (?:a )?([a-z]+(?: [a-z]+)*))?/.exec(line) ?? []
      if (name === undefined) return []
      return {
        name,
        type: typeOf(name),
        feature,
        labels: labels.split(', '),
        services: services.filter((one) => heading === 'all services' || heading.includes(one)),
      }
    })
  })
}

function typeOf(name: string): string {
  if (name.endsWith('_total')) return 'counter'
  return /_duration_seconds$|^webhook_attempt_seconds$|^solver_result_usd$/.test(name) ? 'histogram' : 'gauge'
}

/** Features that the bed has. */
const configured = ['deny list', 'retention', 'shared limits']

describe.each(services)('%s', (kind) => {
  test('tells every metric of its rows, of the type that they say, and no other', async () => {
    const exposed = await exposedBy(kind)
    const named = exposed.map(({ name, type }) => `${name} ${type}`).sort()
    const listed = rows
      .filter(
        (row) =>
          row.services.includes(kind) && (row.feature === undefined || configured.includes(row.feature)),
      )
      .map(({ name, type }) => `${name} ${type}`)
    expect(named).toEqual(listed.sort())
  })

  test('has no label that its row does not name', async () => {
    for (const { name, labels } of await exposedBy(kind)) {
      const row = rows.find((one) => one.name === name)
      expect(
        labels.filter((label) => row?.labels.includes(label) !== true),
        name,
      ).toEqual([])
    }
  })
})
