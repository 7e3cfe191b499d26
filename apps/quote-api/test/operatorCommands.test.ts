// Goal: whatever halts, an operator sees it, mends it and lets it go on by commands alone, and a backup made by
// a command is restored by one. Method: the commands on a real database whose books are falsified.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import {
  createLedger,
  finalizeTopUp,
  haltTopUps,
  ledgerMigrations,
  moveFinalCursor,
  openTopUpCursor,
  recordTopUp,
} from '@causeway/ledger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { repositoryRoot } from './fixtures/service.ts'
import { orderMigrations } from './orderSupport/orders.ts'
import { hexOf } from './topUpSupport/scriptedTopUps.ts'

const wallet = hexOf(0xabc, 20)
const account = { chainId: 8_453, custody: hexOf(0xc0, 20), token: hexOf(0xdc, 20) }
let bed: TestDatabase
let empty: TestDatabase
let directory: string
let topUpId: bigint

beforeAll(async () => {
  const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
  bed = await startTestDatabase({ directories })
  empty = await startTestDatabase({ directories })
  directory = await mkdtemp(join(tmpdir(), 'causeway-commands-'))
  topUpId = await bed.database.transaction(async (tx) => {
    await openTopUpCursor(tx, account, 0n)
    const { eventId = 0n } = await recordTopUp(
      tx,
      {
        ...account,
        transactionHash: hexOf(0x77, 32),
        blockNumber: 5n,
        blockHash: hexOf(0xb5, 32),
        log: { logIndex: 0, ordinal: 0, from: hexOf(0xf0, 20), value: 1_000n },
        verdict: { kind: 'credit', parse: 'ok', owner: wallet },
        tail: undefined,
      },
      { replace: false },
    )
    await finalizeTopUp(tx, eventId, {})
    await moveFinalCursor(tx, account, { finalTo: 5n, finalHash: hexOf(0xb5, 32) })
    return eventId
  })
})
afterAll(async () => {
  await bed?.stop()
  await empty?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function command(words: readonly string[], on: TestDatabase = bed) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const variables = {
    ENVIRONMENT: 'local',
    DATABASE_URL: on.connectionString,
    CAUSEWAY_LOCAL_DIR: directory,
    ECDSA_PRIVATE_KEY: hexOf(0x1234, 32),
  }
  const code = await runCli({
    words,
    actor: 'cli:operator',
    signal: new AbortController().signal,
    print: keep,
    complain: keep,
    config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
  })
  return { code, output: lines.join('\n') }
}

const available = async () => (await createLedger().balance(bed.database, wallet)).availableMicroUsd
const because = ['--reason', 'looked at the chain']

describe('books that do not add up', () => {
  const falsify = (delta: number) =>
    bed.database.query(`update account set credits_posted = credits_posted + $1 where kind = 'sponsor'`, [
      delta,
    ])

  test('are found and halt reservations, which resume only once they add up', async () => {
    expect(await command(['ledger', 'verify'])).toEqual({ code: 0, output: 'The books add up.' })
    await falsify(1)
    const found = await command(['ledger', 'verify', '--cheap'])
    expect(found.code).toBe(1)
    expect(found.output).toMatch(/^I1: .*\n(.*\n)*New reservations are halted since /)
    const refused = await command(['ledger', 'resume', ...because])
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('Reservations stay halted.')])
    await falsify(-1)
    expect(await command(['ledger', 'verify'])).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^The books add up\.\nNew reservations are halted/),
    })
    expect(await command(['ledger', 'resume', ...because])).toEqual({
      code: 0,
      output: 'Reservations go on.',
    })
    expect(await command(['ledger', 'resume', ...because])).toEqual({
      code: 0,
      output: 'Nothing was halted.',
    })
    const [halt] = await bed.database.query('select cleared_by, reason from ledger_halt')
    expect(halt).toEqual({ cleared_by: 'cli:operator', reason: 'looked at the chain' })
  })
})

describe('a backup', () => {
  test('made by a command is restored by one, into an empty database only', async () => {
    const { code, output } = await command(['ledger', 'backup'])
    expect(code).toBe(0)
    const file = join(directory, 'backup')
    await writeFile(file, output)
    expect(await command(['ledger', 'restore', file])).toMatchObject({
      code: 1,
      output: expect.stringContaining('restore into a new database'),
    })
    expect((await command(['ledger', 'restore', join(directory, 'nowhere')])).code).toBe(2)
    expect(await command(['ledger', 'restore', file], empty)).toMatchObject({ code: 0 })
    expect(await command(['ledger', 'verify'], empty)).toEqual({ code: 0, output: 'The books add up.' })
    const restored = await command(['balance', 'show', wallet], empty)
    expect(restored).toEqual(await command(['balance', 'show', wallet]))
    expect(restored.output).toContain('available: 0.001 USDC')
  })
})

describe('requests and claims that wait for an operator', () => {
  const id = hexOf(0xee, 32)

  test('are listed, and there is none', async () => {
    expect(await command(['requests', 'parked'])).toEqual({ code: 0, output: 'Everything moves.' })
    expect(await command(['claims', 'pending'])).toEqual({ code: 0, output: 'No claim is pending.' })
  })

  test('are told apart from unknown ones, and no command goes without its reason', async () => {
    const unknown = { code: 1, output: expect.stringContaining('REQUEST_NOT_FOUND') }
    expect(await command(['requests', 'explain', id])).toEqual(unknown)
    expect(await command(['requests', 'retry', id, ...because])).toEqual(unknown)
    expect(await command(['requests', 'resolve', id, '--as', 'unpaid', ...because])).toEqual(unknown)
    const ended = await command(['claims', 'end', id, '--as', 'failed', ...because])
    expect(ended).toEqual({ code: 1, output: expect.stringContaining('APP_FEE_CLAIM_NOT_PENDING') })
    for (const words of [
      ['requests', 'explain', '0x12'],
      ['requests', 'retry', id],
      ['requests', 'resolve', id, ...because],
      ['requests', 'resolve', id, '--as', 'paid', ...because],
      ['claims', 'end', id, '--as', 'paid'],
    ]) {
      expect((await command(words)).code, words.join(' ')).toBe(2)
    }
  })
})

describe('a chain that took a final block back', () => {
  test('is looked at, its top-up reversed once, its wallet freed, and it goes on', async () => {
    await bed.database.transaction((tx) =>
      haltTopUps(tx, account, { reason: 'final block 5 changed', eventIds: [topUpId] }),
    )
    expect((await command(['topup', 'halted'])).output).toMatch(/^chain 8453, .*: final block 5 changed$/)
    const shown = await command(['topup', 'find', '8453', hexOf(0x77, 32)])
    expect(shown.output).toMatch(new RegExp(`\\n${topUpId} +final +5 +1000 +${wallet}`))
    const reverse = ['topup', 'reverse', topUpId.toString(), ...because]
    expect((await command(reverse)).code).toBe(0)
    expect((await command(reverse)).code).toBe(1)
    expect(await available()).toBe(0n)
    expect((await command(['sponsor', 'unfreeze', wallet, ...because])).code).toBe(0)
    expect((await command(['sponsor', 'unfreeze', wallet, ...because])).code).toBe(1)
    const at = ['--block', '4', '--hash', hexOf(0xb4, 32), ...because]
    expect((await command(['topup', 'resume', '10', ...at])).code).toBe(2)
    expect((await command(['topup', 'resume', '8453', ...at])).code).toBe(0)
    expect((await command(['topup', 'halted'])).output).toBe('Nothing is halted.')
    const deeds = await bed.database.query('select actor, action, reason from operator_action order by id')
    const deed = { actor: 'cli:operator', reason: 'looked at the chain' }
    expect(deeds).toEqual([
      { ...deed, action: 'unfreeze' },
      { ...deed, action: 'resume-top-ups' },
    ])
    expect((await command(['sponsor', 'freeze', wallet, ...because])).output).toContain('is frozen')
    expect(await command(['ledger', 'verify'])).toEqual({ code: 0, output: 'The books add up.' })
  })

  test('is not resumed without a reason, a block and a hash', async () => {
    expect((await command(['topup', 'resume', '8453'])).code).toBe(2)
    expect(
      (await command(['topup', 'resume', '8453', '--block', '1', '--hash', '0x1', ...because])).code,
    ).toBe(2)
  })
})
