// Signing caps over HTTP: who has value signed, who tries to have more signed, and who tries to use up the cap
// of everybody. The service, its guard and its signer are the real ones; chains are scripted.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attestationKinds, verifyAttestation } from '@causeway/attestations'
import {
  bytesToHex,
  type Hex,
  hubTokenId,
  type OwnerRequest,
  ownerRequestDigest,
  type WithdrawRequestFacts,
} from '@causeway/core'
import type { HttpApp } from '@causeway/http'
import { type CapTable, createHeldStore, createSigningCaps, noJournal, recoverSigner } from '@causeway/signer'
import { sign } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  orderB,
  orderBSignature,
  orderBSolverKey,
  repeated,
} from '../../../../packages/core/test/vectors/orders.ts'
import { operate } from '../../test/fixtures/operate.ts'
import { paths, type TestApp, testApp, testKey } from '../../test/fixtures/oracleApp.ts'
import { inputsB, signedOrder } from '../../test/fixtures/requests.ts'
import {
  blockTime,
  depositB,
  depositFacts,
  depositor,
  depository,
  fillTransaction,
  nativeCurrency,
  paymentFacts,
  refundTransaction,
  world,
} from '../../test/fixtures/world.ts'
import { createSigningGuard } from '../caps/signingGuard.ts'
import { folderState } from '../compose/operatorCommands.ts'

const ether = 10n ** 18n
const ethereum = { chainId: 'ethereum', vmType: 'ethereum-vm', network: undefined } as const
const native = hubTokenId(ethereum, nativeCurrency)
const junk = repeated('99', 20)
const recipient = repeated('22', 20)
const ownSigner = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'
const settlement = { order: orderB, orderSignature: orderBSignature, inputs: inputsB }
const idOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

/** Deposits of one ether each, by the number of their transaction. */
const numbered = Array.from({ length: 20 }, (_, number) => number)
const deposits = Object.fromEntries([
  ...numbered.map((number) => {
    const transactionId = idOf(number)
    return [transactionId, depositFacts([{ ...depositB, depositId: repeated('00', 32) }], { transactionId })]
  }),
  [repeated('aa', 32), depositFacts([depositB])],
  [idOf(99), depositFacts([{ ...depositB, currency: junk }], { transactionId: idOf(99) })],
])
const refunded = paymentFacts({
  transactionId: refundTransaction,
  transfers: [{ recipient: depositor, currency: nativeCurrency, amount: ether }],
})
const withdrawRequest: WithdrawRequestFacts = {
  kind: 'withdraw-request',
  depository,
  currency: nativeCurrency,
  recipient,
  data: '0x',
}
const balances: Record<string, bigint> = { '0x37af10adbc4864042698b5735132a3c8c2b146bf': 10n * ether }
const context = world(
  {
    ethereum: { deposits, payments: { [refundTransaction]: refunded }, withdrawRequest },
    base: { payments: { [fillTransaction]: paymentFacts() } },
  },
  balances,
)

type Bed = TestApp & {
  readonly clock: { now: number }
  readonly stateDirectory: string
  readonly asked: Hex[]
  post(
    path: string,
    body: object,
  ): Promise<{ readonly status: number; readonly body: ReturnType<JSON['parse']> }>
}

async function bed(
  cap: bigint,
  isExecuted: (key: Hex) => Promise<boolean> = async () => false,
): Promise<Bed> {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'causeway-held-'))
  const clock = { now: Number(blockTime) * 1_000 }
  const asked: Hex[] = []
  const table: CapTable = new Map([[native, { chain: 'ethereum', currency: nativeCurrency, amount: cap }]])
  const now = () => clock.now
  const caps = createSigningCaps({
    table,
    isUnlistedHeld: true,
    now,
    journal: noJournal,
    rememberedMax: 1_000,
  })
  const guardOf = ({ oracleMetrics: metrics, logger: log }: Parameters<GuardOf>[0]) =>
    createSigningGuard({
      caps,
      table,
      metrics,
      log,
      now,
      held: createHeldStore(stateDirectory),
      isExecuted: (key) => {
        asked.push(key)
        return isExecuted(key)
      },
    })
  const open = await testApp({ context, guardOf })
  onTestFinished(async () => {
    await open.app.close()
    await rm(stateDirectory, { recursive: true, force: true })
  })
  return { ...open, clock, stateDirectory, asked, post: (path, body) => post(open.app, path, body) }
}

type GuardOf = NonNullable<Parameters<typeof testApp>[0]['guardOf']>

async function post(app: HttpApp, url: string, body: object) {
  const headers = { 'content-type': 'application/json', 'x-api-key': testKey }
  const answer = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
  return { status: answer.statusCode, body: answer.json() }
}

const deposit = (number: number) => ({ chainId: 'ethereum', transactionId: idOf(number) })
const measured = async ({ metrics }: TestApp, name: string) =>
  (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(name))

describe('above the cap', () => {
  test('the answer is the message, signed, with executionHeld and without an execution', async () => {
    const open = await bed(ether)
    expect((await open.post(paths.deposits, deposit(1))).body).toHaveProperty('execution')
    const { status, body } = await open.post(paths.deposits, deposit(2))
    expect([status, body.executionHeld, body.execution]).toEqual([200, 'SIGNING_CAP', undefined])
    const { hub, networkOf } = context
    const terms = { hub, networkOf, signers: [ownSigner], threshold: 1, recover: recoverSigner }
    expect(verifyAttestation(body, { ...terms, kind: attestationKinds.deposits })).toMatchObject({
      isQuorum: true,
      isExecutionHeld: true,
      problems: [],
    })
    const lines = open.lines.filter(({ event }) => event === 'execution_held')
    expect(lines).toMatchObject([
      { kind: 'deposits', reason: 'cap', lets: [`${ether} of ethereum ${nativeCurrency}`] },
    ])
    const labels = `{chain="ethereum",currency="${nativeCurrency}",service="oracle"}`
    expect(await measured(open, 'oracle_signed_value')).toEqual([
      `oracle_signed_value${labels} 1000000000000000000`,
    ])
    expect(await measured(open, 'oracle_executions_held_total')).toEqual([
      'oracle_executions_held_total{kind="deposits",reason="cap",service="oracle"} 1',
    ])
  })

  test.each<[string, string, object]>([
    ['a fill', paths.fills, { ...settlement, fill: { transactionId: fillTransaction } }],
    [
      'a fill by force',
      paths.fills,
      { ...settlement, fill: { transactionId: fillTransaction }, force: true },
    ],
    [
      'a refund',
      paths.refunds,
      { ...settlement, refunds: [{ transactionId: refundTransaction, inputIndex: 0, refundIndex: 0 }] },
    ],
  ])('%s is held as well', async (_what, path, body) => {
    const open = await bed(ether - 1n)
    const answer = await open.post(path, body)
    expect(answer).toMatchObject({ status: 200, body: { executionHeld: 'SIGNING_CAP' } })
    expect(answer.body).not.toHaveProperty('execution')
    expect(answer.body.message.signatures).toHaveLength(1)
  })

  test('what was held is signed once it fits again, and is not kept as the last word', async () => {
    const open = await bed(ether)
    await open.post(paths.deposits, deposit(1))
    expect((await open.post(paths.deposits, deposit(2))).body).toHaveProperty('executionHeld')
    open.clock.now += 61 * 60_000
    const { body } = await open.post(paths.deposits, deposit(2))
    expect(body).toHaveProperty('execution')
    expect(body).not.toHaveProperty('executionHeld')
    expect(await operate(['held', 'list'], folderState(open.stateDirectory))).toBe('Nothing is held.')
    expect(await measured(open, 'oracle_executions_held{')).toEqual([
      'oracle_executions_held{service="oracle"} 0',
    ])
  })
})

describe('one attestation', () => {
  test('that 700 ask for at once counts once', async () => {
    const open = await bed(2n * ether)
    const forms = [
      { ...settlement, fill: { transactionId: fillTransaction } },
      { ...settlement, fill: { transactionId: fillTransaction }, force: true },
    ]
    const url = `${await open.app.listen({ host: '127.0.0.1', port: 0 })}${paths.fills}`
    const headers = { 'content-type': 'application/json', 'x-api-key': testKey }
    // Two requests for one execution: neither is one piece of work with the other.
    const answers = await Promise.all(
      Array.from({ length: 700 }, async (_, index) => {
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(forms[index % 2]) })
        return `${answer.status} ${Object.keys(Object(await answer.json())).join()}`
      }),
    )
    expect(new Set(answers)).toEqual(new Set(['200 message,execution']))
    expect((await open.post(paths.deposits, deposit(2))).body).toHaveProperty('execution')
    expect((await open.post(paths.deposits, deposit(3))).body).toHaveProperty('executionHeld')
  })

  test('that a fill and a refund ask for has one key, and counts once', async () => {
    const open = await bed(ether)
    const fill = await open.post(paths.fills, { ...settlement, fill: { transactionId: fillTransaction } })
    expect(fill.body).toHaveProperty('execution')
    const refunds = [{ transactionId: refundTransaction, inputIndex: 0, refundIndex: 0 }]
    expect((await open.post(paths.refunds, { ...settlement, refunds })).body).toHaveProperty('execution')
  })

  test('that was signed is signed again while the cap is full, also after its answer was forgotten', async () => {
    const open = await bed(ether)
    await open.post(paths.deposits, deposit(1))
    expect((await open.post(paths.deposits, deposit(2))).body).toHaveProperty('executionHeld')
    open.forget()
    expect((await open.post(paths.deposits, deposit(1))).body).toHaveProperty('execution')
  })
})

describe('a stranger who would use up the cap of everybody', () => {
  test('P-101: gets nothing counted by asking for what was settled long ago', async () => {
    const open = await bed(4n * ether, async () => true)
    // The first half is given without asking the hub.
    for (const number of [1, 2]) await open.post(paths.deposits, deposit(number))
    expect(open.asked).toEqual([])
    for (const number of [3, 4, 5, 6, 7, 8]) {
      const { body } = await open.post(paths.deposits, deposit(number))
      expect(body).toHaveProperty('execution')
      expect(open.asked).toHaveLength(number - 2)
    }
  })

  test.each<[string, () => Promise<boolean>]>([
    ['refuses', () => Promise.reject(new Error('refused'))],
    ['never answers', () => new Promise(() => undefined)],
  ])('asks a hub that %s: then all of it counts', async (_what, isExecuted) => {
    const open = await bed(ether, isExecuted)
    expect((await open.post(paths.deposits, deposit(1))).body).toHaveProperty('execution')
    expect((await open.post(paths.deposits, deposit(2))).body).toHaveProperty('executionHeld')
  })

  test('P-100: names fees beyond the deposit: his own execution waits, and nothing is counted', async () => {
    const open = await bed(ether)
    const [fee] = orderB.fees
    if (fee === undefined) throw new Error('order B has a fee')
    const greedy = await signedOrder({ ...orderB, fees: [{ ...fee, amount: (900n * ether).toString() }] })
    // By force nothing but the deposits is proven, and the order may be anybody's.
    const deposited = depositFacts([{ ...depositB, depositId: greedy.id }], { transactionId: idOf(50) })
    Object.assign(deposits, { [idOf(50)]: deposited })
    const first = await open.post(paths.deposits, deposit(50))
    const { onchainId } = first.body.messages[0].result
    open.clock.now += 61 * 60_000
    const { body } = await open.post(paths.fills, {
      order: greedy.order,
      orderSignature: greedy.orderSignature,
      inputs: [{ transactionId: idOf(50), onchainId, inputIndex: 0 }],
      fill: { transactionId: fillTransaction },
      force: true,
    })
    expect(body).toMatchObject({ executionHeld: 'SIGNING_CAP' })
    expect(open.lines).toContainEqual(
      expect.objectContaining({ event: 'execution_held', reason: 'overdrawn' }),
    )
    expect((await open.post(paths.deposits, deposit(2))).body).toHaveProperty('execution')
  })

  test('P-100: deposits a token that no cap names: it waits, and nothing is counted', async () => {
    const open = await bed(ether)
    expect((await open.post(paths.deposits, deposit(99))).body).toHaveProperty('executionHeld')
    expect(open.lines).toContainEqual(
      expect.objectContaining({ event: 'execution_held', reason: 'unlisted' }),
    )
    expect((await open.post(paths.deposits, deposit(1))).body).toHaveProperty('execution')
  })

  test('asks to pay one withdrawal in many ways, or initiates many that are not funded: it counts once', async () => {
    const open = await bed(ether)
    const flow = async (nonce: string) => {
      const request: OwnerRequest = {
        chainId: 'ethereum',
        currency: nativeCurrency,
        amount: ether.toString(),
        ownerChainId: 'base',
        owner: '0x2e988a386a799f506693793c6a5af6b54dfaabfb',
        recipient,
        nonce,
      }
      const hash = bytesToHex(ownerRequestDigest(request))
      return { ...request, ownerSignature: await sign({ hash, privateKey: orderBSolverKey, to: 'hex' }) }
    }
    // His balance covers one at a time; each is signed, and lets nothing out yet.
    for (let nonce = 1; nonce <= 5; nonce++) {
      expect((await open.post(paths.initiation, await flow(String(nonce)))).body).toHaveProperty('execution')
    }
    const moved = await open.post(paths.initiation, await flow('1'))
    balances[moved.body.withdrawalAddress] = ether
    for (const path of [paths.initiated, '/attestations/withdrawal-initiated/v2']) {
      const { body } = await open.post(path, await flow('1'))
      expect(body.payloadParams.signatures).toHaveLength(1)
    }
    const second = await open.post(paths.initiation, await flow('2'))
    balances[second.body.withdrawalAddress] = ether
    const { status, body } = await open.post(paths.initiated, await flow('2'))
    expect([status, body.executionHeld, body.payloadParams.signatures]).toEqual([200, 'SIGNING_CAP', []])
  })
})

describe('the operator', () => {
  test('lists what could not be written while the disk was full, once it is asked for again', async () => {
    const open = await bed(ether)
    await open.post(paths.deposits, deposit(1))
    const place = join(open.stateDirectory, 'held-executions')
    await rm(place, { recursive: true, force: true })
    await writeFile(place, 'no folder')
    for (let times = 1; times <= 2; times += 1)
      expect((await open.post(paths.deposits, deposit(2))).body).toHaveProperty('executionHeld')
    await rm(place)
    await open.post(paths.deposits, deposit(2))
    const [told] = open.lines.filter(({ event }) => event === 'execution_held')
    expect(await operate(['held', 'list'], folderState(open.stateDirectory))).toContain(String(told?.['id']))
    const events = open.lines.map(({ event }) => event)
    expect(events.filter((event) => event === 'execution_held')).toHaveLength(1)
    expect(events.filter((event) => event === 'held_not_kept')).toHaveLength(2)
  })

  test('lists what is held and releases exactly what was reviewed, beside the cap', async () => {
    const open = await bed(ether)
    await open.post(paths.deposits, deposit(1))
    for (const number of [2, 3]) await open.post(paths.deposits, deposit(number))
    const listed = (await operate(['held', 'list'], folderState(open.stateDirectory))).split('\n')
    expect(listed).toHaveLength(2)
    const ids = open.lines.filter(({ event }) => event === 'execution_held').map(({ id }) => String(id))
    const [second = ''] = ids
    expect(listed).toContainEqual(expect.stringContaining(second))
    const said = await operate(['held', 'release', second], folderState(open.stateDirectory))
    expect(said).toBe(`${second} is signed when it is asked for again.`)
    expect(await operate(['audit', 'list'], folderState(open.stateDirectory))).toContain(
      `held.release  ${second}  done`,
    )
    expect((await open.post(paths.deposits, deposit(3))).body).toHaveProperty('executionHeld')
    expect((await open.post(paths.deposits, deposit(2))).body).toHaveProperty('execution')
    expect(await measured(open, 'oracle_executions_released_total')).toEqual([
      'oracle_executions_released_total{kind="deposits",service="oracle"} 1',
    ])
    expect(await measured(open, 'oracle_signed_value{')).toEqual([
      expect.stringMatching(/ 1000000000000000000$/),
    ])
    expect((await operate(['held', 'list'], folderState(open.stateDirectory))).split('\n')).toHaveLength(1)
  })

  test.each<[string, readonly string[], string | undefined, RegExp]>([
    ['without STATE_DIR', ['held', 'list'], undefined, /Neither STATE_DIR nor ORACLE_DATABASE_URL/],
    ['with an id that is none', ['held', 'release', '../../etc'], 'here', /64 hex digits/],
    [
      'with another word',
      ['held', 'burn'],
      'here',
      /unknown command 'burn'[\s\S]*Usage: npm run oracle -- held/,
    ],
  ])('is told what is wrong %s', async (_what, words, directory, message) => {
    const place = directory === undefined ? undefined : folderState((await bed(ether)).stateDirectory)
    await expect(operate(words, place)).rejects.toThrow(message)
  })
})

test('nothing is held where no chain names caps', async () => {
  const { app } = await testApp({ context })
  onTestFinished(() => app.close())
  for (const number of numbered) {
    expect((await post(app, paths.deposits, deposit(number))).body).toHaveProperty('execution')
  }
})
