// Goal: no field of a quote sends money where nobody can take it, on chains of contracts. Attackers: whoever names a token,
// a router, a precompile or a wallet of the operator, so that a fill or a refund goes there and is lost; a payee whose
// code, or whose token's list, refuses the payment, so that the order stands until its deadline. Method: the service over
// real nodes; code is given to accounts on the node. Each kind of payee is asked for in each field.
import type { Hex } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { postPatiently, readError, readOk, send } from './serviceSupport/callService.ts'
import {
  type LocalCurrency,
  localRequest,
  nativeAddress,
  type UserChain,
  userOf,
} from './serviceSupport/localRequest.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'

let bed: SettlementBed
let oracles: StandInOracles

/** Whom the token of both chains lets nobody pay. */
const blocked = privateKeyToAddress(generatePrivateKey())
const forwarder = freshAddress()
const chains = ['base', 'optimism'] as const

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    ...{ blockTimeSeconds: 1, oracles: async () => oracles.setting },
    environment: async ({ keys }) => ({ CUSTODY_ADDRESS: keys.custody.address }),
  })
  for (const chain of chains) await block(chain)
  for (const chain of chains)
    for (const [account, code] of [...codes.values()]) await setCode(chain, account, code)
  // The service asks at the newest block that it knows, which may still be the one before.
  for (const field of fields)
    await waitUntil('the code is seen', async () => {
      const answer = await asked(field, () => withCode('a contract without receive'), 'native')
      return answer.status === 400
    })
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})

function freshAddress(): Hex {
  return privateKeyToAddress(generatePrivateKey())
}

const setCode = (chain: UserChain, address: Hex, bytecode: Hex) =>
  bed.network.chains[chain].chain.node.setCode({ address, bytecode })

/** The token reverts where the second word of a call is the blocked account, and does as before otherwise. */
async function block(chain: UserChain): Promise<void> {
  const token = bed.network.deployment[chain].tokens.USDC
  const { client } = bed.network.chains[chain].chain
  const behind = freshAddress()
  await setCode(chain, behind, (await client.getCode({ address: token })) ?? '0x')
  const list = `73${blocked.slice(2)}60243514604957`
  const handOn = `365f5f375f5f365f73${behind.slice(2)}5af43d5f5f3e604557`
  const [fail, succeed] = ['3d5ffd', '5b3d5ff3']
  await setCode(chain, token, `0x${list}${handOn}${fail}${succeed}5b5f5ffd`.toLowerCase() as Hex)
}

/** Accounts with code, by what they are. */
const codes: ReadonlyMap<string, readonly [Hex, Hex]> = new Map([
  ['a wallet that delegates', [freshAddress(), `0xef0100${forwarder.slice(2)}`]],
  ['a wallet that is a contract', [freshAddress(), '0x00']],
  ['a contract that passes the coin on', [forwarder, `0x5f5f5f5f4773${'e1'.repeat(20)}5af100`]],
  ['a contract without receive', [freshAddress(), '0x5f5ffd']],
  ['a contract that burns 25 million gas', [freshAddress(), '0x620f42405b600190038060045700']],
  ['a contract that refuses a trial without a price', [freshAddress(), '0x3a6007575f5ffd5b00']],
  ['a contract that refuses whatever has a price', [freshAddress(), '0x3a600557005b5f5ffd']],
])
const withCode = (what: string): Hex => {
  const [account] = codes.get(what) ?? []
  if (account === undefined) throw new Error(`nobody is ${what}`)
  return account
}

type Payee = readonly [what: string, on: (chain: UserChain) => Hex]

const deployed = (chain: UserChain) => bed.network.deployment[chain]

/** The address alone says it. */
const neverPaid: readonly Payee[] = [
  ['the token', (chain) => deployed(chain).tokens.USDC],
  ['the wrapped coin', (chain) => deployed(chain).wrappedNative],
  ['the depository', (chain) => deployed(chain).depository],
  ['the fill contract', (chain) => deployed(chain).fillContract],
  ['the deposit router', (chain) => deployed(chain).depositRouter],
  ['the clean-up router', (chain) => deployed(chain).cleanupRouter],
  ['multicall', (chain) => deployed(chain).multicall3],
  ['a precompile', () => `0x${'0'.repeat(38)}09`],
  ['an account of the network', () => `0x${'0'.repeat(36)}1010`],
  ['a predeploy', () => `0x42${'0'.repeat(36)}15`],
  ['Permit2', () => '0x000000000022D473030F116dDEE9F6B43aC78BA3'],
  ['the fill wallet', () => bed.network.keys.fillWallet.address],
  ['the account of top-ups', () => bed.network.keys.custody.address],
]

/** The chain says it, of one kind of currency alone. */
const refusing: readonly (readonly [...Payee, LocalCurrency])[] = [
  ['an account that its token blocks', () => blocked, 'USDC'],
  ...[
    'a contract without receive',
    'a contract that burns 25 million gas',
    'a contract that refuses whatever has a price',
  ].map((what) => [what, () => withCode(what), 'native'] as const),
]

const paid: readonly Payee[] = [
  ['a plain account', freshAddress],
  ...[
    'a wallet that delegates',
    'a wallet that is a contract',
    'a contract that passes the coin on',
    'a contract that refuses a trial without a price',
  ].map((what) => [what, () => withCode(what)] as const),
]

const amountOf = (currency: LocalCurrency) => (currency === 'native' ? 10n ** 16n : 20_000_000n)

/** A quote that names the payee in one field. */
function asked(field: 'recipient' | 'refundTo', payee: Payee[1], currency: LocalCurrency) {
  const named = payee(field === 'recipient' ? 'optimism' : 'base')
  return postPatiently(
    `${bed.url}/quote`,
    localRequest(bed.network, { pay: currency, amount: amountOf(currency), more: { [field]: named } }),
  )
}

const currencies = ['USDC', 'native'] as const
const fields = ['recipient', 'refundTo'] as const

describe.each(fields)('%s', (field) => {
  test.each(neverPaid)('Q-60: %s is refused by name', async (_what, payee) => {
    for (const currency of currencies) {
      const answer = await asked(field, payee, currency)
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('INVALID_RECIPIENT')])
      expect(readError(answer).message).toMatch(
        new RegExp(`^${field} is .*: name an account that somebody holds\\.$`),
      )
    }
  })

  test.each(refusing)('Q-62: %s is refused by name', async (_what, payee, currency) => {
    const answer = await asked(field, payee, currency)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('INVALID_RECIPIENT')])
    expect(readError(answer).message).toMatch(
      new RegExp(`^${field} cannot be paid .*: name another account\\.$`),
    )
  })

  test.each(paid)('Q-62: %s is quoted', async (_what, payee) => {
    for (const currency of currencies)
      expect(await asked(field, payee, currency)).toMatchObject({ status: 200 })
  })

  test('Q-60: every spelling is the same account', async () => {
    const spelled = (chain: UserChain): Hex => {
      const digits = deployed(chain).depository.slice(2)
      // CAST: hex in another case is hex.
      return `0x${digits.toUpperCase()}` as Hex
    }
    expect(await asked(field, spelled, 'USDC')).toMatchObject({ status: 400 })
  })
})

test('Q-64: a refund whose first account takes no coin any more goes to user, and its reason is kept', async () => {
  const user = userOf(bed.network, 0).address.toLowerCase()
  const refundTo = freshAddress().toLowerCase()
  const body = localRequest(bed.network, { pay: 'native', amount: amountOf('native'), more: { refundTo } })
  const quote = readOk(await postPatiently(`${bed.url}/quote`, body), quoteResponseSchema)
  const [input] = quote.protocol?.v2.orderData.inputs ?? []
  expect(input?.refunds.map(({ recipient }) => recipient.toLowerCase())).toEqual([refundTo, user])
  await bed.requests.deposit(quote, { token: nativeAddress, amount: amountOf('native') / 2n })
  const item = await bed.requests.workFor(quote, 'refund')
  expect(item).toMatchObject({ payload: { recipient: refundTo } })
  const told = async () => {
    const [row] = await bed.database.query<{ recipient: string; reason: string | null; state: string }>(
      "select payload ->> 'recipient' as recipient, reason, state from work_item where id = $1",
      [item.id],
    )
    return row
  }
  // A solver that says so is not believed while the account can be paid.
  await bed.solver.fail(item.id, 'execution reverted')
  expect(await told()).toMatchObject({ recipient: refundTo, reason: 'execution reverted' })
  await setCode('base', refundTo as Hex, '0x5f5ffd')
  // Code is read at the newest block, so that the one of before may still be asked.
  await waitUntil('the second account is asked for', async () => {
    await bed.solver.fail(item.id, 'execution reverted')
    return (await told())?.recipient.toLowerCase() === user
  })
  const second = await told()
  expect(second?.recipient.toLowerCase()).toBe(user)
  expect(second?.reason).toMatch(
    /^0x[0-9a-f]{40} cannot be paid ETH on chain 8453 .*; refunded to 0x.*execution reverted/,
  )
  await bed.solver.carryOut(await bed.requests.workFor(quote, 'refund'))
  await waitUntil('it is paid', async () => (await told())?.state === 'done')
  const history = await send(`${bed.url}/requests/v3?id=${quote.requestId}`)
  expect(JSON.parse(history.text)).toMatchObject({
    requests: [{ refundTo: expect.stringMatching(new RegExp(user, 'i')) }],
  })
})
