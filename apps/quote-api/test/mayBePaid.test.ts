// Goal: no field of a quote sends money where nobody can take it, on chains of contracts. Attackers: whoever names a token,
// a router, a precompile or a wallet of the operator, so that a fill or a refund goes there and is lost; a payee whose
// code, or whose token's list, refuses the payment, so that the order stands until its deadline. Method: the service over
// real nodes; code is given to accounts on the node. Each kind of payee is named in each field.
import type { Hex } from '@causeway/core'
import { accrueAppFees } from '@causeway/ledger'
import { evmWallets, placeEvmWallet, safeCode, waitUntil } from '@causeway/localnet'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { type Answer, postPatiently, readError, readOk, send } from './serviceSupport/callService.ts'
import {
  currencyAddress,
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

/** It is owed fees in both currencies of Base. */
const claimant = freshAddress().toLowerCase()
/** An account on each chain that its token lets nobody pay. */
const blocked: Record<UserChain, Hex> = { base: '0x', optimism: '0x' }
const forwarder = freshAddress()
const chains = ['base', 'optimism'] as const

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async ({ keys }) => ({ CUSTODY_ADDRESS: keys.custody.address }),
  })
  for (const chain of chains)
    blocked[chain] = await placeEvmWallet(
      bed.network.chains[chain].chain,
      'blocked',
      deployed(chain).tokens.USDC,
    )
  for (const currency of currencies) await accrue(currency)
  for (const chain of chains)
    for (const [account, code] of [...codes.values()]) await setCode(chain, account, code)
  // The service asks at the newest block that it knows, which may still be the one before.
  for (const field of ['recipient', 'refundTo'] as const)
    await waitUntil('the code is seen', async () => {
      const answer = await fields[field].ask(() => withCode('a contract without receive'), 'native')
      return answer.text.includes('cannot be paid')
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

async function accrue(currency: LocalCurrency): Promise<void> {
  const { chainId } = bed.network.chains.base
  const address = currencyAddress(bed.network, 'base', currency)
  const asset = { chainId, address, symbol: currency, name: currency, decimals: currency === 'USDC' ? 6 : 18 }
  const fees = [{ recipient: claimant, amount: amountOf(currency) }]
  await bed.database.transaction((tx) => accrueAppFees(tx, { requestId: generatePrivateKey(), asset, fees }))
}

/** Accounts with code, by what they are. */
const codes: ReadonlyMap<string, readonly [Hex, Hex]> = new Map([
  ['a wallet that delegates', [freshAddress(), `0xef0100${forwarder.slice(2)}`]],
  ['a wallet that is a contract', [freshAddress(), evmWallets.contract.code]],
  ['a Safe', [freshAddress(), evmWallets.safe.code]],
  ['the code behind it', [safeCode.address, safeCode.bytecode]],
  ['a contract that passes the coin on', [forwarder, evmWallets.forwarder.code]],
  ['a contract without receive', [freshAddress(), evmWallets['without-receive'].code]],
  ['a contract that burns 25 million gas', [freshAddress(), evmWallets.costly.code]],
  ['a contract that refuses a trial without a price', [freshAddress(), evmWallets['wants-price'].code]],
  ['a contract that refuses whatever has a price', [freshAddress(), evmWallets['refuses-price'].code]],
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
  ['an account that its token blocks', (chain) => blocked[chain], 'USDC'],
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
    'a Safe',
    'a contract that passes the coin on',
    'a contract that refuses a trial without a price',
  ].map((what) => [what, () => withCode(what)] as const),
]

const amountOf = (currency: LocalCurrency) => (currency === 'native' ? 10n ** 16n : 20_000_000n)

/** Names a payee in one field, on the chain that would pay it. @returns the answer, and the member that a refusal names */
type Field = {
  readonly member: string
  /** The chain's answer about the account counts too. */
  readonly isTried: boolean
  ask(payee: Payee[1], currency: LocalCurrency): Promise<Answer>
}

const quote = (pay: LocalCurrency, more: object) =>
  postPatiently(`${bed.url}/quote`, localRequest(bed.network, { pay, amount: amountOf(pay), more }))

const fields = {
  recipient: {
    member: 'recipient',
    isTried: true,
    ask: (payee, currency) => quote(currency, { recipient: payee('optimism') }),
  },
  refundTo: {
    member: 'refundTo',
    isTried: true,
    ask: (payee, currency) => quote(currency, { refundTo: payee('base') }),
  },
  recoveryAddress: {
    member: 'refundTo',
    isTried: true,
    ask: (payee, currency) => quote(currency, { recoveryAddress: payee('base'), useDepositAddress: true }),
  },
  'the recipient of a top-up': {
    member: 'recipient',
    isTried: true,
    ask: (payee) => quote('USDC', { recipient: payee('optimism'), topupGas: true }),
  },
  'the recipient of app fees': {
    member: 'appFees.0.recipient',
    isTried: false,
    ask: (payee, currency) => quote(currency, { appFees: [{ recipient: payee('base'), fee: '1' }] }),
  },
  'the recipient of a claim': {
    member: 'recipient',
    isTried: true,
    ask: (payee, currency) =>
      postPatiently(`${bed.url}/app-fees/${claimant}/claim`, {
        chainId: bed.network.chains.base.chainId,
        recipient: payee('base'),
        currency: currencyAddress(bed.network, 'base', currency),
      }),
  },
} as const satisfies Record<string, Field>

const currencies = ['USDC', 'native'] as const

describe.each<[string, Field]>(Object.entries(fields))('%s', (_field, { member, isTried, ask }) => {
  test.each(neverPaid)('Q-60, Q-4: %s is refused by name', async (_what, payee) => {
    for (const currency of currencies) {
      const answer = await ask(payee, currency)
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('INVALID_RECIPIENT')])
      expect(readError(answer).message).toMatch(
        new RegExp(`^${member} is .*: name an account that somebody holds\\.$`),
      )
    }
  })

  test.each(isTried ? refusing : [])('Q-62: %s is refused by name', async (_what, payee, currency) => {
    // A quote goes on where the chain says nothing within its budget, which a busy machine can take.
    let answer = await ask(payee, currency)
    await waitUntil('the chain answers in time', async () => {
      if (answer.status === 200) answer = await ask(payee, currency)
      return answer.status !== 200
    })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('INVALID_RECIPIENT')])
    expect(readError(answer).message).toMatch(
      new RegExp(`^${member} cannot be paid .*: name another account\\.$`),
    )
  })

  test.each(paid)('Q-62: %s is quoted', async (_what, payee) => {
    for (const currency of currencies) expect(await ask(payee, currency)).toMatchObject({ status: 200 })
  })

  test('Q-60: every spelling is the same account', async () => {
    const spelled = (chain: UserChain): Hex => {
      const digits = deployed(chain).depository.slice(2)
      // CAST: hex in another case is hex.
      return `0x${digits.toUpperCase()}` as Hex
    }
    expect(await ask(spelled, 'USDC')).toMatchObject({ status: 400 })
  })
})

test('Q-63: the recipient is the default account of refunds where he may be paid there, and user is else', async () => {
  const user = userOf(bed.network, 0).address.toLowerCase()
  const refunded = async (recipient: Hex, currency: LocalCurrency) => {
    const { protocol } = readOk(await quote(currency, { recipient }), quoteResponseSchema)
    return protocol?.v2.orderData.inputs[0]?.refunds.map((refund) => refund.recipient.toLowerCase())
  }
  for (const [what, payee] of paid)
    for (const currency of currencies) {
      const recipient = payee('base')
      expect([what, await refunded(recipient, currency)]).toEqual([what, [recipient.toLowerCase(), user]])
    }
})

test('Q-64: an order with one refund, as 0.2.0 stored each, is filled, given back and shown', async () => {
  const user = userOf(bed.network, 0).address.toLowerCase()
  const stored = async () => {
    const quoted = readOk(await quote('native', { refundTo: user }), quoteResponseSchema)
    expect(quoted.protocol?.v2.orderData.inputs[0]?.refunds).toHaveLength(1)
    const id = Buffer.from(quoted.requestId.slice(2), 'hex')
    await bed.database.query(
      `update orders set quoted = (quoted::jsonb - 'gasCharged')::json where request_id = $1`,
      [id],
    )
    return quoted
  }
  const [filled, refunded] = [await stored(), await stored()]
  await bed.requests.deposit(filled, { token: nativeAddress, amount: amountOf('native') })
  await bed.solver.carryOut(await bed.requests.workFor(filled, 'fill'))
  await bed.requests.reaches(filled, 'success')
  await bed.requests.deposit(refunded, { token: nativeAddress, amount: amountOf('native') / 2n })
  const item = await bed.requests.workFor(refunded, 'refund')
  await bed.solver.fail(item.id, 'execution reverted')
  const rows = () =>
    bed.database.query<{ recipient: string; reason: string; state: string }>(
      "select payload ->> 'recipient' as recipient, reason, state from work_item where id = $1",
      [item.id],
    )
  expect(await rows()).toMatchObject([
    { recipient: expect.stringMatching(new RegExp(user, 'i')), reason: 'execution reverted' },
  ])
  await bed.solver.carryOut(await bed.requests.workFor(refunded, 'refund'))
  await waitUntil('it is paid', async () => (await rows())[0]?.state === 'done')
  const history = await send(`${bed.url}/requests/v3?id=${refunded.requestId}`)
  expect(JSON.parse(history.text)).toMatchObject({
    requests: [{ refundTo: expect.stringMatching(new RegExp(user, 'i')) }],
  })
})

test('Q-64: a refund whose first account takes no coin any more goes to user, and its reason is kept', async () => {
  const user = userOf(bed.network, 0).address.toLowerCase()
  const refundTo = freshAddress().toLowerCase()
  const body = localRequest(bed.network, { pay: 'native', amount: amountOf('native'), more: { refundTo } })
  const quoted = readOk(await postPatiently(`${bed.url}/quote`, body), quoteResponseSchema)
  const [input] = quoted.protocol?.v2.orderData.inputs ?? []
  expect(input?.refunds.map(({ recipient }) => recipient.toLowerCase())).toEqual([refundTo, user])
  await bed.requests.deposit(quoted, { token: nativeAddress, amount: amountOf('native') / 2n })
  const item = await bed.requests.workFor(quoted, 'refund')
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
  await bed.solver.carryOut(await bed.requests.workFor(quoted, 'refund'))
  await waitUntil('it is paid', async () => (await told())?.state === 'done')
  const history = await send(`${bed.url}/requests/v3?id=${quoted.requestId}`)
  expect(JSON.parse(history.text)).toMatchObject({
    requests: [{ refundTo: expect.stringMatching(new RegExp(user, 'i')) }],
  })
})
