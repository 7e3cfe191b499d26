// Goal: a hold that was acknowledged is there after any kill of PostgreSQL, once, and a repetition of one
// that was not acknowledged has one effect. Method: kill -9 of the server under reservations with fsync on, each group of
// them for several sponsors.
// CAUSEWAY_FAULTS=1 runs the long form.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HoldRequest } from '@causeway/core'
import { createDatabase, migrate, startEmbeddedPostgres } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLedger, ledgerMigrations, verifyLedger } from '../src/index.ts'
import { fund, holdNamed, noCaps } from './support/ledgerBed.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const kills = isLongForm ? 20 : 2
const lanes = 4
const amountMicroUsd = 3n
const sponsors = ['sponsor a', 'sponsor b', 'sponsor c']
const ledger = createLedger({ caps: noCaps })
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-ledger-kills-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

test(
  'kill -9 of PostgreSQL under load loses and doubles no acknowledged hold',
  async () => {
    const dataDirectory = join(directory, 'postgres')
    let server = await startEmbeddedPostgres({ dataDirectory })
    const { connectionString, port } = server
    await migrate({ connectionString, directories: [{ name: 'ledger', path: ledgerMigrations }] })
    const database = createDatabase({ connectionString })
    const reserve = (requests: readonly HoldRequest[]) =>
      database.transaction((tx) => ledger.reserveBatch(tx, requests))
    const acknowledged: HoldRequest[] = []
    try {
      for (const sponsor of sponsors) await fund(database, sponsor, 10n ** 12n)
      for (let kill = 1; kill <= kills; kill += 1) {
        let isKilled = false
        const pid = server.pid
        const run = async (lane: number): Promise<readonly HoldRequest[]> => {
          for (let index = 0; ; index += 1) {
            const batch = sponsors.map((sponsor) => {
              const body = { sponsor, amountMicroUsd, lifetimeSeconds: 36_000 }
              return holdNamed(`${kill} ${lane} ${index} ${sponsor}`, body)
            })
            try {
              const outcomes = await reserve(batch)
              expect(outcomes.map(({ status }) => status)).toEqual(['reserved', 'reserved', 'reserved'])
              acknowledged.push(...batch)
            } catch (error) {
              // A connection that broke, or a server that is on its way back.
              expect(error).toMatchObject({
                code: expect.stringMatching(/^(SERVICE_UNAVAILABLE|DATABASE_STARTING)$/),
              })
              return batch
            }
            // In the middle of what the other lanes do.
            if (index === 10 && !isKilled) {
              isKilled = true
              process.kill(pid, 'SIGKILL')
            }
          }
        }
        const unacknowledged = (
          await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)))
        ).flat()
        await server.stop()
        server = await startEmbeddedPostgres({ dataDirectory, port })
        await expect.poll(() => database.ping().then(() => 'up', String), { timeout: 30_000 }).toBe('up')
        for (const { status } of await reserve(unacknowledged)) {
          expect(['reserved', 'already_reserved']).toContain(status)
        }
        acknowledged.push(...unacknowledged)

        for (const { status } of await reserve(acknowledged)) expect(status).toBe('already_reserved')
        // All of a group or nothing of it: each sponsor has as many.
        for (const sponsor of sponsors) {
          expect(await ledger.balance(database, sponsor)).toMatchObject({
            heldMicroUsd: BigInt(acknowledged.length / sponsors.length) * amountMicroUsd,
          })
        }
        expect(await verifyLedger(database)).toEqual([])
      }
      expect(acknowledged.length).toBeGreaterThanOrEqual(kills * 30)
    } finally {
      await database.close()
      await server.stop()
    }
  },
  isLongForm ? 1_800_000 : 180_000,
)
