// Goal: `npm start` shows every chain, each oracle reads it like any other, and a stand-in that falls silent takes
// its own chain away and no other. Method: the session of `npm start` with two of its oracles, then a second start
// in the same folder.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tronAddress } from '@causeway/core'
import {
  attachLocalNetwork,
  type FamilyKey,
  familyKeys,
  familyPlans,
  parseOperatorCommand,
  runOperatorCommand,
  type Session,
  servicePlans,
  waitUntil,
} from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { firstFamilyPort, startSessionIn } from './support/sessionBed.ts'

let folder: string
let directory: string
let session: Session

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-families-'))
  directory = join(folder, '.local')
  session = await startSessionIn(directory, {
    firstFamilyPort,
    services: servicePlans.filter(({ name }) => name === 'oracle-1' || name === 'oracle-2'),
    environment: {
      PATH: process.env['PATH'],
      LOG_LEVEL: 'warn',
      FINALITY_CHECK_INTERVAL_MS: '200',
      UNAUTHENTICATED_RATE_LIMIT_MAX: '0',
    },
  })
}, 240_000)
afterAll(async () => {
  await session?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const chainsSchema = z.object({
  chains: z.array(z.object({ id: z.string(), vmType: z.string(), ready: z.boolean(), halted: z.boolean() })),
})

const oracleUrl = () => `http://127.0.0.1:${session.services[0]?.ports['http']}`

async function listChains() {
  return chainsSchema.parse(await (await fetch(`${oracleUrl()}/chains/v1`)).json()).chains
}

async function readyChains(): Promise<readonly string[]> {
  return (await listChains()).flatMap(({ id, ready }) => (ready ? [id] : []))
}

async function attest(
  chainId: string,
  transactionId: string,
  switches: object = {},
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${oracleUrl()}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chainId, transactionId, ...switches }),
  })
  return { status: response.status, body: await response.json() }
}

async function operate(line: string): Promise<string> {
  return runOperatorCommand(await attachLocalNetwork(directory), parseOperatorCommand(line.split(' ')))
}

function facts(key: FamilyKey) {
  if (session.families === undefined) throw new Error('no families run')
  return session.families[key]
}

/** Who makes the first deposit; on Tron an account of this network. */
const depositors = {
  solana: 'DYDWFbzDZ2D73Yo4dX1JKKhiGRd6J1Y7wSNVk9Hpmt2s',
  bitcoin: 'bcrt1qy26l74q6xatancu6s3am05trs4z0x3nghgjy6w',
  hyperliquid: '0x22b5ff541a3757d9e39a847bb7d1638544f34668',
  lighter: '630347903',
}
const currencies = {
  solana: '11111111111111111111111111111111',
  bitcoin: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8',
  tron: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
  hyperliquid: '0x00000000000000000000000000000000',
  lighter: '0',
}

test('every chain is listed and ready', async () => {
  expect(await listChains()).toEqual([
    ...['base', 'optimism'].map((id) => ({ id, vmType: 'ethereum-vm', ready: true, halted: false })),
    ...familyKeys.map((id) => ({ id, vmType: familyPlans[id].vmType, ready: true, halted: false })),
  ])
})

test.each(familyKeys)('the first deposit on %s is attested as it was made', async (key) => {
  const { depository, firstDeposit } = facts(key)
  const user = session.network.keys.users.at(-1)?.address ?? ''
  const depositor = { ...depositors, tron: tronAddress(user) }[key]
  const { status, body } = await attest(key, firstDeposit.transactionId)
  expect(status, JSON.stringify(body)).toBe(200)
  const result = { depository, depositor, currency: currencies[key], amount: firstDeposit.amount }
  expect(body).toMatchObject({
    messages: [{ data: { chainId: key }, result: { ...result, depositId: `0x${'0'.repeat(64)}` } }],
    execution: { signatures: [{}] },
  })
  expect(BigInt(firstDeposit.amount)).toBe(familyPlans[key].firstAmount)
})

test.each(familyKeys)('an operator deposits twice on %s, and both are attested', async (key) => {
  const ids = await Promise.all(
    ['1.5', '1.5'].map(async (amount) => (await operate(`deposit ${key} ${amount}`)).split(' ')[0] ?? ''),
  )
  expect(new Set([...ids, facts(key).firstDeposit.transactionId]).size).toBe(3)
  const amount = ((3n * 10n ** BigInt(familyPlans[key].decimals)) / 2n).toString()
  for (const id of ids) {
    const { status, body } = await attest(key, id)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ messages: [{ result: { amount } }] })
  }
})

test.each(familyKeys)('the hub executes what two oracles signed of %s, once', async (key) => {
  const { transactionId } = facts(key).firstDeposit
  const { body } = await attest(key, transactionId, { requestPeerSignatures: true })
  const file = join(folder, `${key}.json`)
  await writeFile(file, JSON.stringify(body))
  expect(await operate(`submit ${file}`)).toMatch(/^The hub executed the attestation in 0x[0-9a-f]{64}\.$/)
  await expect(operate(`submit ${file}`)).rejects.toThrow('The hub refuses the execution')
})

test('what is no deposit is refused, and the stand-ins go on', async () => {
  const { familyControlUrl } = await attachLocalNetwork(directory)
  for (const body of ['{', '{}', '{"family":"solana","amount":"0"}', '{"family":"moon","amount":"1"}']) {
    const { status } = await fetch(`${familyControlUrl}/deposit`, { method: 'POST', body })
    expect(status, body).toBe(400)
  }
  const told = await operate('families')
  for (const key of familyKeys) expect(told).toContain(facts(key).firstDeposit.transactionId)
})

test.each(['solana', 'lighter'] as const)('%s falls silent alone', async (key) => {
  const before = await readyChains()
  expect(before).toContain(key)
  await operate(`silence ${key}`)
  await waitUntil(`${key} is not ready`, async () => !(await readyChains()).includes(key))
  expect(await readyChains()).toEqual(before.filter((id) => id !== key))
  const other = await operate('deposit bitcoin')
  expect((await attest('bitcoin', other.split(' ')[0] ?? '')).status).toBe(200)
  expect((await attest(key, 'f'.repeat(80))).status).toBeGreaterThanOrEqual(400)
})

test('a second start has the first deposits again under their ids', async () => {
  const before = session.families
  await session.stop()
  session = await startSessionIn(directory, { firstFamilyPort, services: [] })
  const ids = (families: Session['families']) => familyKeys.map((key) => families?.[key].firstDeposit)
  expect(ids(session.families)).toEqual(ids(before))
})
