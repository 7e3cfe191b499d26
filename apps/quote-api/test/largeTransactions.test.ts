// Goal: whatever one ordinary transaction holds, its deposit is seen, and so is the next. Attacker: who pays the
// depository in a transaction of 5,001 logs, or in one whose receipt is longer than 8 MiB, for some cents. Method: the
// running service over a real node, whose receipts are the node's own.
import { waitUntil } from '@causeway/localnet'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { QuoteAnswer } from './serviceSupport/callService.ts'
import { userOf } from './serviceSupport/localRequest.ts'
import { transactionsOf } from './serviceSupport/transactionsOf.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor } from './sponsorSupport/sponsors.ts'

let oracles: StandInOracles
let bed: SettlementBed
beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
}, 300_000)
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})

const contracts = parseAbi([
  'function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls) payable',
])

/** Writes so many logs: PUSH2 count, then JUMPDEST PUSH0 PUSH0 LOG0 PUSH1 1 SWAP1 SUB DUP1 PUSH1 3 JUMPI. */
const codeOfLogs = (count: number): Hex =>
  `0x61${count.toString(16).padStart(4, '0')}5b5f5fa06001900380600357`

/** One transaction that pays for a quote and writes logs beside it. @returns the length of its receipt */
async function attack(quote: QuoteAnswer, logs: number): Promise<number> {
  const { base } = bed.network.deployment
  const { walletClient, publicClient } = bed.network.chains.base.chain.as(userOf(bed.network, 3))
  const writer: Hex = `0x${logs.toString(16).padStart(40, 'c')}`
  // CAST: a method of the node, which the types of the library do not name.
  await publicClient.request({ method: 'anvil_setCode', params: [writer, codeOfLogs(logs)] } as never)
  const [deposit] = transactionsOf(quote)
  if (deposit === undefined) throw new Error('the quote has no step')
  // CAST: steps hold addresses and calldata, which the wire describes as text.
  const paid = { target: deposit.to as Hex, callData: deposit.data as Hex, value: BigInt(deposit.value) }
  const calls = [
    { ...paid, allowFailure: false },
    { target: writer, allowFailure: false, value: 0n, callData: '0x' as const },
  ]
  const data = encodeFunctionData({ abi: contracts, functionName: 'aggregate3Value', args: [calls] })
  const hash = await walletClient.sendTransaction({
    to: base.multicall3,
    data,
    value: paid.value,
    gas: 16_777_216n,
    chain: null,
  })
  // As text: the library reads no receipt of that length.
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [hash] })
  let receipt = ''
  await waitUntil('it is in a block', async () => {
    const headers = { 'content-type': 'application/json' }
    receipt = await (await fetch(bed.network.chains.base.url, { method: 'POST', headers, body })).text()
    return receipt.includes('"status":"0x1"')
  })
  expect(receipt.match(/"logIndex"/g)?.length).toBeGreaterThan(logs)
  return receipt.length
}

test.each([
  ['5,001 logs', 5_000, 0],
  ['a receipt above 8 MiB', 24_000, 8 * 1_024 * 1_024],
  ['as many logs as one may write (EIP-7825)', 38_000, 12 * 1_024 * 1_024],
])(
  'F-55: the deposit of a transaction of %s is seen, and so is the next one',
  async (_what, logs, charactersMin) => {
    const sponsor = await createSponsor(bed.database, 1_000_000_000n)
    const next = await bed.requests.quoted(sponsor, { amount: 60_000_000n })
    const large = await bed.requests.quoted(sponsor, { amount: 20_000_000_000_000_000n, pay: 'native' })
    expect(await attack(large, logs)).toBeGreaterThan(charactersMin)
    await bed.requests.execute(next)
    for (const { requestId } of [next, large])
      await waitUntil('the deposit is seen', async () => {
        const seen = await bed.database.query('select 1 from deposit_seen where request_id = $1', [
          bytesOf(requestId),
        ])
        return seen.length > 0
      })
  },
  240_000,
)
