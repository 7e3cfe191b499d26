// Goal: where every movement of ether writes a `Transfer` of its own (EIP-7708), no reader takes one for a token, and
// every fact stays what it is without them. Attackers: whoever deposits 1 ether and has two deposits, one of them in a
// token that nobody can pay out; whoever moves a wei so that somebody else's payment or deposit reads otherwise.
// Method: receipts with such logs at every place, against the same receipts without them, in each reader of logs.

import { type Hex, ordinalOf } from '@causeway/core'
import { topUpLogs, transferTopic } from '@causeway/families/rules'
import { MalformedAnswerError } from '@causeway/rpc'
import { describe, expect, test } from 'vitest'
import { tryCalls } from '../packages/families/src/ethereum/deposits/tryCalls.ts'
import type { EvmLog } from '../packages/families/src/ethereum/reading/answers.ts'
import { parseCandidates } from '../packages/families/src/ethereum/reading/blockScan.ts'
import { findDeposits, needsCalldata } from '../packages/families/src/ethereum/reading/deposits.ts'
import type { AccountCode } from '../packages/families/src/ethereum/reading/payments/paidTransaction.ts'
import { provePayment } from '../packages/families/src/ethereum/reading/payments/provePayment.ts'
import { parseBlockPayments } from '../packages/families/src/ethereum/settling/blockPayments.ts'
import { depositSendersReading } from '../packages/families/src/ethereum/settling/depositReadings.ts'

const emitter: Hex = '0xfffffffffffffffffffffffffffffffffffffffe'
const [depository, user, payer, recipient, token, custody] = ['d0', '11', '22', '33', '70', 'c0'].map(
  (byte): Hex => `0x${byte.repeat(20)}`,
) as [Hex, Hex, Hex, Hex, Hex, Hex]
const id: Hex = `0x${'ab'.repeat(32)}`
const hash: Hex = `0x${'99'.repeat(32)}`
const zeroId: Hex = `0x${'0'.repeat(64)}`
const native = `0x${'0'.repeat(40)}`

const word = (value: bigint | Hex) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
type Log = Omit<EvmLog, 'logIndex'>
const moved = (address: Hex, from: Hex, to: Hex, amount: bigint): Log => ({
  address,
  topics: [transferTopic, `0x${word(from)}`, `0x${word(to)}`],
  data: `0x${word(amount)}`,
})
const event = (topic: Hex, words: readonly (bigint | Hex)[]): Log => ({
  address: depository,
  topics: [topic],
  data: `0x${words.map(word).join('')}`,
})
const nativeDeposit = (amount: bigint) =>
  event('0x8032066556caf3967d8fec4ad22a2d9e1e9576556b2903a0fcd5b1fd201e3477', [user, amount, id])
const tokenDeposit = (amount: bigint) =>
  event('0x49fed1d0b752ce30eee63c7a81133f3363b532fec5d4d7dd1ccfd005de4555e1', [user, token, amount, id])

/** Logs of a transaction, and the ether that moves meanwhile, before the log at the same place. */
const receipts: Readonly<
  Record<string, { readonly logs: readonly Log[]; readonly ether: readonly Log[][] }>
> = {
  'a deposit of ether': {
    logs: [nativeDeposit(7n)],
    ether: [[moved(emitter, user, depository, 7n)]],
  },
  'a deposit of a token, with ether to the depository and back between its logs': {
    logs: [moved(token, user, depository, 5n), tokenDeposit(5n)],
    ether: [
      [moved(emitter, user, depository, 5n)],
      [moved(emitter, user, depository, 5n), moved(emitter, depository, user, 5n)],
    ],
  },
  'a plain transfer of a token whose id is in its calldata': {
    logs: [moved(token, user, depository, 5n)],
    ether: [[moved(emitter, user, depository, 5n)], [moved(emitter, user, depository, 5n)]],
  },
  'ether that reaches the depository without a call of it': {
    logs: [],
    ether: [[moved(emitter, user, depository, 9n)]],
  },
  'a payment of a token, whose recipient gives ether away': {
    logs: [moved(token, payer, recipient, 100n)],
    ether: [[moved(emitter, payer, recipient, 3n)], [moved(emitter, recipient, user, 3n)]],
  },
  'a top-up, and ether to custody': {
    logs: [moved(token, user, custody, 50n)],
    ether: [[moved(emitter, user, custody, 50n)], [moved(emitter, user, custody, 50n)]],
  },
}

const indexed = (logs: readonly Log[], first: number): readonly EvmLog[] =>
  logs.map((log, position) => ({ ...log, logIndex: BigInt(first + position) }))

function bothForms({ logs, ether }: (typeof receipts)[string]) {
  const places = Math.max(logs.length, ether.length)
  const all = Array.from({ length: places }, (_, at) => [
    ...(ether[at] ?? []),
    ...logs.slice(at, at + 1),
  ]).flat()
  return { before: indexed(logs, 0), after: indexed(all, 0) }
}

const rules = { depository, isZksyncStack: false }
const transaction = { from: payer, to: token, input: id, value: 0n }
const side = {
  chosen: undefined,
  unlisted: undefined,
  fillContracts: new Set<string>(),
  fillPayers: new Set<string>(),
  depositories: new Set([depository]),
}
const code = new Map<string, AccountCode>([recipient, user].map((account) => [account, 'none']))
const terms = {
  orderId: id,
  side,
  calls: [],
  nativeCurrency: native,
  targets: [recipient, user].flatMap((one) =>
    [token, native, emitter].map((currency) => ({ recipient: one, currency })),
  ),
}

function sendersIn(logs: readonly EvmLog[]) {
  const place = { blockHash: `0x${'55'.repeat(32)}` }
  const answers = [
    { ...place, hash, from: payer },
    {
      ...place,
      transactionHash: hash,
      logs: logs.map((log) => ({ ...log, logIndex: `0x${log.logIndex.toString(16)}` })),
    },
  ]
  return depositSendersReading(hash, depository).parse(answers.map((result) => ({ ok: true, result })))
}

function candidatesIn(logs: readonly EvmLog[]) {
  const result = logs.map((log) => ({
    ...log,
    logIndex: `0x${log.logIndex.toString(16)}`,
    blockNumber: '0x5',
    transactionHash: hash,
  }))
  return parseCandidates({ ok: true, result }, { fromBlock: 5n, toBlock: 5n }).length
}

const asListed = (logs: readonly EvmLog[]) =>
  logs.map((log) => ({
    ...log,
    logIndex: `0x${log.logIndex.toString(16)}`,
    blockNumber: '0x5',
    blockHash: hash,
    transactionHash: hash,
  }))

const listed = { from: 6n, to: 5n, transfersFrom: 5n }
const watched = { nativeCurrency: user, tokens: new Set([token]) }

/** Nodes list what was asked for: transfers of tokens that the file lists. */
function paymentsIn(logs: readonly EvmLog[]) {
  const transfers = logs.filter(({ address, topics }) => address === token && topics[0] === transferTopic)
  const { payments } = parseBlockPayments([{ ok: true, result: asListed(transfers) }], listed, watched)
  return payments.map(({ id: _, ...paid }) => paid)
}

/** Calls of an account, tried out by a node that says what they would write. */
async function depositsTriedOut(logs: readonly EvmLog[]) {
  const result = [{ calls: [{ status: '0x1', gasUsed: '0x5208', logs: asListed(logs) }] }]
  const client = {
    chainId: 'base',
    agree: async () => ({ answers: [{ ok: true as const, result }], agreeingEndpoints: ['one'] }),
  }
  const execution = { from: payer, multicall3: token, depository, to: user }
  return tryCalls(client, { ...execution, data: id, delegations: [] })
}

/** Each reader of logs, without the places of what it read: those shift, and mean what the chain says. */
const readers: Readonly<Record<string, (logs: readonly EvmLog[]) => unknown>> = {
  deposits: (logs) => findDeposits(logs, rules, () => id).map(({ onchainIndex: _, ...deposit }) => deposit),
  'whether calldata names the order': (logs) => needsCalldata(logs, rules),
  'payments of fills, refunds and claims': (logs) => provePayment({ logs, transaction, code }, terms),
  'top-ups': (logs) =>
    topUpLogs(
      logs.map((log) => ({ ...log, logIndex: Number(log.logIndex) })),
      { token, custody },
    ).map(({ from, value }) => [from, value]),
  'who brought tokens to the depository': sendersIn,
  'what is read ahead': candidatesIn,
  'payments to deposit addresses': paymentsIn,
  'deposits of calls that are tried out': depositsTriedOut,
}

describe.each(Object.entries(receipts))('F-45: %s', (_receipt, receipt) => {
  test.each(Object.entries(readers))('reads as it did before: %s', async (_reader, read) => {
    const { before, after } = bothForms(receipt)
    expect(after.length).toBeGreaterThan(before.length)
    expect(await read(after)).toEqual(await read(before))
  })
})

test('F-45: a deposit of ether beside its log is one deposit, at the place where its chain has it', () => {
  const { after } = bothForms(receipts['a deposit of ether'] ?? { logs: [], ether: [] })
  expect(findDeposits(after, rules)).toEqual([
    { onchainIndex: '1', depository, depositId: id, depositor: user, currency: native, amount: 7n },
  ])
})

test('F-45: a token that another contract moves is a deposit as before', () => {
  const found = findDeposits(indexed([moved(token, user, depository, 5n)], 0), rules)
  expect(found).toMatchObject([{ currency: token, amount: 5n, depositId: zeroId }])
})

test('F-116: deposits of one transaction keep their order, and so the ids of their refunds, at the places of their chain', () => {
  const twice = { logs: [nativeDeposit(7n), nativeDeposit(7n)] }
  const ether = moved(emitter, user, depository, 7n)
  const { before, after } = bothForms({ ...twice, ether: [[ether], [ether]] })
  const placesOf = (logs: readonly EvmLog[]) => {
    const found = findDeposits(logs, rules)
    return found.map((deposit) => [deposit.onchainIndex, ordinalOf(deposit, found)])
  }
  expect(placesOf(before)).toEqual([
    ['0', 0],
    ['1', 1],
  ])
  expect(placesOf(after)).toEqual([
    ['1', 0],
    ['3', 1],
  ])
})

test('F-116: an endpoint that lists movements of ether among transfers of tokens is not believed', () => {
  const result = asListed(indexed([moved(emitter, user, recipient, 9n)], 0))
  expect(() => parseBlockPayments([{ ok: true, result }], listed, watched)).toThrow(MalformedAnswerError)
})
