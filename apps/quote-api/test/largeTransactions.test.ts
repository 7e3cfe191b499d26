// Goal: whatever one ordinary transaction of a stranger holds, the next deposit is seen. Attacker: who pays 1 wei to the
// depository in a transaction of 5,001 logs, or in one whose receipt is longer than 8 MiB, for some cents. Method: the
// running service over a real node, whose receipts are the node's own.
import { waitUntil } from '@causeway/localnet'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { userOf } from './serviceSupport/localRequest.ts'
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
  'function depositNative(address depositor, bytes32 id) payable',
])

/** Writes so many logs: PUSH2 count, then JUMPDEST PUSH0 PUSH0 LOG0 PUSH1 1 SWAP1 SUB DUP1 PUSH1 3 JUMPI. */
const codeOfLogs = (count: number): Hex =>
  `0x61${count.toString(16).padStart(4, '0')}5b5f5fa06001900380600357`

/** One transaction that pays 1 wei to the depository and writes logs beside it. @returns length of its receipt too */
async function attack(logs: number): Promise<{ readonly hash: Hex; readonly characters: number }> {
  const { base } = bed.network.deployment
  const { walletClient, publicClient } = bed.network.chains.base.chain.as(userOf(bed.network, 3))
  const writer: Hex = `0x${logs.toString(16).padStart(40, 'c')}`
  // CAST: a method of the node, which the types of the library do not name.
  await publicClient.request({ method: 'anvil_setCode', params: [writer, codeOfLogs(logs)] } as never)
  const callData = encodeFunctionData({
    ...{ abi: contracts, functionName: 'depositNative' },
    args: [walletClient.account.address, `0x${'a7'.repeat(32)}`],
  })
  const calls = [
    { target: base.depository, allowFailure: false, value: 1n, callData },
    { target: writer, allowFailure: false, value: 0n, callData: '0x' as const },
  ]
  const data = encodeFunctionData({ abi: contracts, functionName: 'aggregate3Value', args: [calls] })
  const hash = await walletClient.sendTransaction({
    ...{ to: base.multicall3, data, value: 1n, gas: 16_777_216n, chain: null },
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
  return { hash, characters: receipt.length }
}

test.each([
  ['5,001 logs', 5_000, 0],
  ['a receipt above 8 MiB', 24_000, 8 * 1_024 * 1_024],
  ['as many logs as one may write (EIP-7825)', 38_000, 12 * 1_024 * 1_024],
])(
  'F-55: a transaction of %s and 1 wei keeps no other deposit waiting, and is put aside by name',
  async (_what, logs, charactersMin) => {
    const sponsor = await createSponsor(bed.database, 1_000_000_000n)
    const { requestId, ...quote } = await bed.requests.quoted(sponsor, { amount: 60_000_000n, more: {} })
    const { hash, characters } = await attack(logs)
    expect(characters).toBeGreaterThan(charactersMin)
    const fromMs = performance.now()
    await bed.requests.execute({ requestId, ...quote })
    await waitUntil('the deposit of somebody else is seen', async () => {
      const seen = await bed.database.query('select 1 from deposit_seen where request_id = $1', [
        bytesOf(requestId),
      ])
      return seen.length > 0
    })
    expect(performance.now() - fromMs).toBeLessThan(20_000)
    await waitUntil('the large one is put aside', async () => {
      const aside = await bed.database.query<{ reason: string }>(
        `select reason from put_aside where transaction_id = $1 and purpose = 'deposits'`,
        [hash],
      )
      return aside.some(({ reason }) => reason === 'too_large')
    })
  },
  240_000,
)
