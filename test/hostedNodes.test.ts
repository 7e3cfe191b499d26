// Goal: with nodes that answer as hosted ones do, each order ends in success or refund, or its quote was refused with the
// cause in words, and no deposit is unseen after 30 seconds. Method: the whole local network, whose services read the
// chains through nodes of one behaviour after the other; requests of each kind for each. CAUSEWAY_FAULTS=1 runs all.
import { readFile } from 'node:fs/promises'
import type { Database } from '@causeway/database'
import { nodePersonalities, type PersonalityName } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { verifyLedger } from '../packages/ledger/src/index.ts'
import { createRandom } from '../packages/localnet/test/support/random.ts'
import { endsWell, expectSingleFills } from './support/endsOfLives.ts'
import { createRequestLives, drawWish, type Life, type Wish } from './support/requestLives.ts'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

const isLong = process.env['CAUSEWAY_FAULTS'] === '1'
const unseenMsMax = 30_000
const quoteMs = 60_000

const names = Object.keys(nodePersonalities).filter(
  (name): name is PersonalityName => name in nodePersonalities && familyOf(name) === 'ethereum',
)
const sample: readonly PersonalityName[] = ['log-range-10', 'late-logs']

function familyOf(name: string): string | undefined {
  return Object.entries(nodePersonalities).find(([one]) => one === name)?.[1].family
}

/** Kinds of orders by what is to be true of a wish. */
const kinds: Readonly<Record<string, (wish: Wish) => boolean>> = {
  'tokens from Base': ({ from, swaps, isDoomed, receives }) =>
    from === 'base' && !swaps && !isDoomed && !/^0x0+$/.test(receives),
  'the native coin from Optimism': ({ from, swaps, isDoomed, receives }) =>
    from === 'optimism' && !swaps && !isDoomed && /^0x0+$/.test(receives),
  'a swap': ({ swaps }) => swaps,
  'a call that refuses': ({ isDoomed }) => isDoomed,
}

let bed: SessionBed
let database: Database
beforeAll(async () => {
  bed = await startSessionBed({}, { endpoints: 'batch-100' })
  database = await bed.openDatabase()
}, 600_000)
afterAll(async () => {
  await database?.close()
  await bed?.stop()
}, 120_000)

const refusalSchema = z.object({ message: z.string().min(20), errorCode: z.string().optional() })

test.each(isLong ? names : sample)(
  'O-55: with %s each order ends, or is refused with the cause',
  async (name) => {
    await bed.session.endpoints.changePersonality(name)
    const random = createRandom(20_261_128)
    const refusals: string[] = []
    const lives = createRequestLives(bed, {
      isPatient: true,
      quoteMs,
      onRefusal: (_wish, answer) => refusals.push(refusalSchema.parse(answer).message),
    })
    const wishes = Object.values(kinds)
      .slice(0, isLong ? undefined : 2)
      .map((isOf) => {
        for (;;) {
          const wish = drawWish(bed, random, { doomedShare: 0.3 })
          if (isOf(wish)) return wish
        }
      })
    const all = await Promise.all(wishes.map((wish) => lives.live(wish)))
    const done = all.filter((life): life is Life => life !== undefined)
    expect(done.length + refusals.length).toBe(wishes.length)
    const unseen = done.map(({ unseenMs }) => unseenMs)
    expect(Math.max(0, ...unseen), refusals.join('; ')).toBeLessThan(unseenMsMax)
    for (const life of done) await endsWell(database, life)
    await expectSingleFills(bed, database, done)
    const findings = await database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))
    expect(findings).toEqual([])
  },
  900_000,
)

test('O-75: the page of service levels measures what was just done', async () => {
  const page = await readFile(new URL('../docs/operating/service-levels.md', import.meta.url), 'utf8')
  const [, statement = ''] = /```sql\n(.*?)```/s.exec(page) ?? []
  const rows = await database.query<{ level: string; requests: bigint }>(statement, [])
  expect(rows.map(({ level }) => level)).toEqual(['seen', 'filled', 'attested'])
  for (const { requests } of rows) expect(Number(requests)).toBeGreaterThan(0)
})
