// Goal: an account with code, an EIP-7702 delegation included, is paid native coin like any other, whenever it got its
// code and whatever it does with the coin: as output, as refund, as app fees. Attackers: a recipient whose code passes
// the coin on, so that the payment does not count and the solver paid for nothing. Method: the service with its jobs over
// real nodes; code is given to accounts on the node.
import type { Hex } from '@causeway/core'
import { accrueAppFees } from '@causeway/ledger'
import { safeCode, safeProxy, waitUntil } from '@causeway/localnet'
import { zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { readClaimStep } from './serviceSupport/appFeeClaim.ts'
import { post, postPatiently, type QuoteAnswer, readOk } from './serviceSupport/callService.ts'
import { currencyAddress, localRequest, type UserChain } from './serviceSupport/localRequest.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'

const amount = 10n ** 16n
const thief: Hex = `0x${'e1'.repeat(20)}`
/** Sends all of its coin to the thief: call(gas, thief, selfbalance(), 0, 0, 0, 0). */
const passesOn: Hex = `0x5f5f5f5f4773${thief.slice(2)}5af100`
/** Writes a log without topics. */
const writesLog: Hex = '0x5f5fa000'
const delegateCode: Hex = '0x00'
const delegate: Hex = `0x${'77'.repeat(20)}`
const delegation: Hex = `0xef0100${delegate.slice(2)}`

let bed: SettlementBed
let oracles: StandInOracles

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  for (const chain of ['base', 'optimism'] as const) {
    await giveCode(chain, delegate, delegateCode)
    await giveCode(chain, safeCode.address, safeCode.bytecode)
  }
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})

const freshAddress = () => privateKeyToAddress(generatePrivateKey())
const giveCode = (chain: UserChain, address: Hex, bytecode: Hex) =>
  bed.network.chains[chain].chain.node.setCode({ address, bytecode })

async function quoted(more: object): Promise<QuoteAnswer> {
  const body = localRequest(bed.network, {
    pay: 'native',
    receive: 'native',
    amount,
    more: { recipient: freshAddress(), refundTo: freshAddress(), ...more },
  })
  return readOk(await postPatiently(`${bed.url}/quote`, body), quoteResponseSchema)
}

const codes: readonly [string, Hex][] = [
  ['a contract that passes the coin on', passesOn],
  ['a contract that writes a log', writesLog],
  ['a wallet that delegates', delegation],
  ['a Safe', safeProxy],
]

describe('native coin', () => {
  test.each(codes)('P-41: pays %s', async (_who, code) => {
    const recipient = freshAddress()
    await giveCode('optimism', recipient, code)
    const quote = await quoted({ recipient })
    await bed.requests.execute(quote)
    await bed.solver.carryOut(await bed.requests.workFor(quote, 'fill'))
    await bed.requests.reaches(quote, 'success')
  })

  test.each(codes)('P-41: pays an account that becomes %s while the fill is offered', async (_who, code) => {
    const recipient = freshAddress()
    const quote = await quoted({ recipient })
    await bed.requests.execute(quote)
    const item = await bed.requests.workFor(quote, 'fill')
    await giveCode('optimism', recipient, code)
    await bed.solver.carryOut(item)
    await bed.requests.reaches(quote, 'success')
  })

  test.each(codes)('P-41: tops up %s beside a token', async (_who, code) => {
    const recipient = freshAddress()
    await giveCode('optimism', recipient, code)
    const asked = { pay: 'USDC', amount: 50_000_000n, more: { recipient, topupGas: true } } as const
    const answer = await postPatiently(`${bed.url}/quote`, localRequest(bed.network, asked))
    const quote = readOk(answer, quoteResponseSchema)
    await bed.requests.execute(quote)
    await bed.solver.carryOut(await bed.requests.workFor(quote, 'fill'))
    await bed.requests.reaches(quote, 'success')
  })

  test.each(codes)('P-41: is refunded to %s', async (_who, code) => {
    const refundTo = freshAddress()
    const quote = await quoted({ refundTo })
    const token = currencyAddress(bed.network, 'base', 'native')
    await bed.requests.deposit(quote, { token, amount: amount / 2n })
    const item = await bed.requests.workFor(quote, 'refund')
    await giveCode('base', refundTo, code)
    await bed.solver.carryOut(item)
    await waitUntil('it is paid', async () => {
      const [work] = await bed.database.query<{ state: string }>(
        'select state from work_item where id = $1',
        [item.id],
      )
      return work?.state === 'done'
    })
  })
})

test.each(codes)('P-41: app fees in native coin are claimed for %s', async (_who, code) => {
  const account = privateKeyToAccount(generatePrivateKey())
  // CAST: lower-cased hex stays hex.
  const wallet = account.address.toLowerCase() as Hex
  const { chainId } = bed.network.chains.base
  const asset = { chainId, address: zeroAddress, symbol: 'ETH', name: 'Ether', decimals: 18 }
  await bed.database.transaction((tx) =>
    accrueAppFees(tx, { requestId: generatePrivateKey(), asset, fees: [{ recipient: wallet, amount }] }),
  )
  const recipient = freshAddress()
  await giveCode('base', recipient, code)
  const asked = { chainId, currency: zeroAddress, recipient }
  const claim = readClaimStep(await post(`${bed.url}/app-fees/${account.address}/claim`, asked))
  const signature = await account.signTypedData(claim.typedData)
  const body = { kind: 'claim', requestId: claim.claimId, referrer: 'a.example' }
  expect((await post(`${bed.url}/execute/permits?signature=${signature}`, body)).status).toBe(200)
})
