// P7: round trips of cold EVM questions, counted at a proxy in front of a real node. P8, its cold half:
// what reading one log costs in a receipt of 5,000 against one of 50.

import { encodeFillExtraData, type FactsReader, type Hex } from '@causeway/core'
import { createEthereumFactsReader } from '@causeway/families'
import { encodeDepositNative, encodeEvmWithdrawal } from '@causeway/families/rules'
import { startFaultProxy, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { createQuorumClient } from '@causeway/rpc'
import { parseReceipt } from '../packages/families/src/ethereum/reading/answers.ts'
import { findDeposits } from '../packages/families/src/ethereum/reading/deposits.ts'
import type { BenchRow } from './row.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const recipient: Hex = `0x${'61'.repeat(20)}`
const native = `0x${'00'.repeat(20)}`
const perLogGoal = 1.3

/** @throws Error when a question cannot be answered */
export async function benchOracleReader(): Promise<readonly BenchRow[]> {
  return [...(await benchRounds()), benchLogs()]
}

async function benchRounds(): Promise<readonly BenchRow[]> {
  const network = await startTestNetwork()
  const proxy = await startFaultProxy({ targetUrl: network.chains.base.url })
  const quorum = createQuorumClient({ chainId: 'base', endpoints: [{ url: proxy.url }] })
  try {
    const { deposit, payment } = await prepare(network)
    const { depository } = network.deployment.base
    const reader = () =>
      createEthereumFactsReader({
        chain: { id: 'base', depository, finality: { mode: 'depth', blocks: 2 } },
        quorum,
      })
    const count = async (ask: () => Promise<unknown>) => {
      proxy.resetCounters()
      await ask()
      return proxy.counters().requests
    }
    const fill = (one: FactsReader, payee: string, payments = 1) => {
      const targets = Array.from({ length: payments }, () => ({ recipient: payee, currency: native }))
      const question = { transactionId: payment, orderId: id, payments: targets }
      return one.readPayment({ ...question, extraData: encodeFillExtraData(recipient) }, signal())
    }
    const warm = reader()
    const measured: readonly (readonly [string, number, number])[] = [
      ['deposit', await count(() => warm.readDeposits({ transactionId: deposit }, signal())), 2],
      ['withdrawal', await count(() => reader().readWithdrawal({ withdrawal }, signal())), 2],
      ['fill without calls', await count(() => fill(reader(), recipient)), 2],
      ['fill of 50 payments', await count(() => fill(reader(), recipient, 50)), 2],
      ['final deposit again', await count(() => warm.readDeposits({ transactionId: deposit }, signal())), 0],
    ]
    return measured.map(([what, requests, goal]) => ({
      id: 'P7',
      name: `requests to the endpoint for a cold ${what}`,
      value: `${requests}`,
      limit: `≤ ${goal}`,
      ratio: requests,
      goal,
      atLeast: false,
    }))
  } finally {
    await quorum.close()
    await proxy.stop()
    await network.stop()
  }
}

const withdrawal = encodeEvmWithdrawal({
  calls: [{ to: recipient, data: '0x', value: 1n, allowFailure: false }],
  nonce: 1n,
  expiration: 4_000_000_000n,
})

function signal(): { readonly signal: AbortSignal } {
  return { signal: new AbortController().signal }
}

async function prepare(network: TestNetwork): Promise<{ readonly deposit: Hex; readonly payment: Hex }> {
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has no user')
  const { walletClient } = network.chains.base.chain.as(user)
  const data = encodeDepositNative(recipient, id)
  const deposit = await walletClient.sendTransaction({
    to: network.deployment.base.depository,
    data,
    value: 7n,
  })
  const payment = await walletClient.sendTransaction({ to: recipient, data: id, value: 5n })
  await network.mine('base', 4)
  return { deposit, payment }
}

function benchLogs(): BenchRow {
  const [few, many] = [receiptText(50), receiptText(5_000)]
  const times: { few: number[]; many: number[] } = { few: [], many: [] }
  for (let round = 0; round < 6; round += 1) {
    times.few.push(microsecondsPerLog(few, 50, 400))
    times.many.push(microsecondsPerLog(many, 5_000, 4))
  }
  // The first round warms the code up.
  const [fewUs, manyUs] = [median(times.few.slice(1)), median(times.many.slice(1))]
  return {
    id: 'P8-cold',
    name: 'CPU per log of a receipt with 5,000 logs against one with 50',
    value: `${manyUs.toFixed(2)} µs against ${fewUs.toFixed(2)} µs`,
    limit: `≤ ${perLogGoal}`,
    ratio: manyUs / fewUs,
    goal: perLogGoal,
    atLeast: false,
  }
}

const rules = { depository: recipient, isZksyncStack: false }
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

function receiptText(logs: number): string {
  const home = { transactionHash: id, blockHash: id, blockNumber: '0x5', transactionIndex: '0x0' }
  const padded = `0x${recipient.slice(2).padStart(64, '0')}`
  return JSON.stringify({
    ...home,
    status: '0x1',
    logs: Array.from({ length: logs }, (_, index) => ({
      ...home,
      address: recipient,
      topics: [transferTopic, padded, padded],
      data: `0x${index.toString(16).padStart(64, '0')}`,
      logIndex: `0x${index.toString(16)}`,
      removed: false,
    })),
  })
}

function microsecondsPerLog(text: string, logs: number, times: number): number {
  const startedAt = process.hrtime.bigint()
  for (let time = 0; time < times; time += 1) {
    const receipt = parseReceipt({ ok: true, result: JSON.parse(text) }, id)
    const logsOfReceipt = typeof receipt === 'object' ? receipt.logs : []
    if (findDeposits(logsOfReceipt, rules).length !== logs) throw new Error('not every log was read')
  }
  return Number(process.hrtime.bigint() - startedAt) / 1_000 / logs / times
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
