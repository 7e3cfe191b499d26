// Goal: the page of metrics is what services tell, no more and no less. Method: a whole local network; each service
// is scraped and compared with its rows.
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Exposed, readExposed } from './support/exposed.ts'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

type Row = {
  readonly name: string
  readonly type: string
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
  const page = await readFile(new URL('../docs/operating/metrics.md', import.meta.url), 'utf8')
  rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\w+) \| (.*?) \| (.*?) \|/gm)].map(
    ([, name = '', type = '', labels = '', services = '']) => ({
      ...{ name, type },
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
      services: services.split(', '),
    }),
  )
})
afterAll(() => bed?.stop())

/** Metrics of one service kind; its first service stands for all. */
function exposedBy(kind: string): Promise<readonly Exposed[]> {
  const service = bed.session.services.find(({ plan }) => plan.name === kind || plan.name === `${kind}-1`)
  if (service === undefined) throw new Error(`no ${kind} runs`)
  return readExposed(`http://127.0.0.1:${service.ports['ops']}`)
}

/** `oracle (signing caps)` is said where something must be configured; those that the bed has count as plain. */
const isOf = (kind: string, services: readonly string[]) =>
  services.some((one) => one === kind || configured.some((what) => one === `${kind} (${what})`))
const configured = ['deny list', 'retention', 'shared limits']

describe.each(['quote-api', 'oracle', 'solver', 'allocator'])('%s', (kind) => {
  test('tells every metric of its rows, of the type that they say, and no other', async () => {
    const exposed = await exposedBy(kind)
    const named = exposed.map(({ name, type }) => `${name} ${type}`).sort()
    const listed = rows
      .filter(({ services }) => isOf(kind, services))
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
