// Goal: a smart account's owner spends no native coin in any way to deposit, and whoever would spend the
// relayer's money is refused before it is asked. Method: the service with its jobs, PostgreSQL and real nodes
// that mine only when told; ERC-4337's own entry point and accounts, the stand-in for Calibur at its address;
// a scripted solver submits.
import type { Hex } from '@causeway/core'
import { type PermitKind, permit2Address } from '@causeway/families/rules'
import {
  type BatchedCall,
  type LocalAccount,
  signDelegation,
  tokenAbi,
  waitUntil,
  wrappedNativeAbi,
} from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, maxUint256, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { failuresPerHourMax } from '../src/requests/execute/judgeExecution.ts'
import { type Answer, post, type QuoteAnswer, readError, readOk } from './serviceSupport/callService.ts'
import {
  currencyAddress,
  type LocalCurrency,
  type LocalRequest,
  localRequest,
  type UserChain,
  userOf,
} from './serviceSupport/localRequest.ts'
import { postSignature, signatureOf, signStep } from './serviceSupport/signatureStep.ts'
import {
  type Execution,
  type Flow,
  type Owner,
  type SmartAccounts,
  startSmartAccounts,
} from './serviceSupport/smartAccounts.ts'
import { transactionsOf } from './serviceSupport/transactionsOf.ts'
import { bytesOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

const amount = 200_000_000n
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor
let payer: LocalAccount
let accounts: SmartAccounts
let accountsOnOptimism: SmartAccounts

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ oracles: async () => oracles.setting })
  requests = bed.requests
  payer = userOf(bed.network, 5)
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
  accounts = await startSmartAccounts(bed.network, 'base', payer)
  accountsOnOptimism = await startSmartAccounts(bed.network, 'optimism', payer)
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})

const base = () => bed.network.chains.base.chain
const usdc = () => bed.network.deployment.base.tokens.USDC

/** An account with tokens and no native coin, whose owner has none either. */
async function accountOf(flow: Flow, token = usdc(), value = amount): Promise<Owner> {
  const owner = await accounts.accountOf(flow)
  const fund = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [owner.account, value] })
  await base().send(payer, [{ what: 'funds', to: token, data: fund }])
  await bed.network.mine('base')
  return owner
}

/** Asks on fresh heads: chains that mine only when told grow too old to be priced. */
async function ask(
  body: object,
  headers: Record<string, string> = { 'x-api-key': sponsor.apiKey },
): Promise<Answer> {
  let answer = await post(`${bed.url}/quote`, body, headers)
  await waitUntil('chains can be priced', async () => {
    if (answer.status !== 503) return true
    await Promise.all([bed.network.mine('base'), bed.network.mine('optimism')])
    answer = await post(`${bed.url}/quote`, body, headers)
    return answer.status !== 503
  })
  return answer
}

async function quoted(
  owner: Owner,
  more: object = {},
  request: Partial<LocalRequest> = {},
): Promise<QuoteAnswer> {
  const asked = { user: owner.account, recipient: payer.address, originGasOverhead: 450_000, ...more }
  return readOk(
    await ask(localRequest(bed.network, { amount, ...request, more: asked })),
    quoteResponseSchema,
  )
}

const callsOf = (quote: QuoteAnswer): readonly BatchedCall[] =>
  transactionsOf(quote).map(({ to, data, value }) => ({
    // CAST: steps hold addresses and calldata, which the wire describes as text.
    to: to as Hex,
    data: data as Hex,
    value: BigInt(value),
  }))

const signedBy: SmartAccounts['signedBy'] = (...of) => accounts.signedBy(...of)
const delegatedBatch: SmartAccounts['delegatedBatch'] = (...of) => accounts.delegatedBatch(...of)

function execute(
  { requestId }: Pick<QuoteAnswer, 'requestId'>,
  data: Execution & { readonly value?: string; readonly chainId?: number },
  {
    more = {},
    apiKey = sponsor.apiKey,
  }: { readonly more?: object; readonly apiKey?: string | undefined } = {},
): Promise<Answer> {
  const body = {
    executionKind: 'rawCalls',
    data: { chainId: base().chainId, value: '0', ...data },
    executionOptions: { referrer: 'a.client', subsidizeFees: false },
    requestId,
    ...more,
  }
  return post(`${bed.url}/execute`, body, apiKey === '' ? {} : { 'x-api-key': apiKey })
}

async function refusalOf(asked: Promise<Answer>): Promise<readonly unknown[]> {
  const answer = await asked
  const { errorCode, errorData } = readError(answer)
  const data: unknown = errorData?.startsWith('{') === true ? JSON.parse(errorData) : {}
  const reason = typeof data === 'object' && data !== null && 'reason' in data ? data.reason : undefined
  return [answer.status, errorCode, reason]
}

const workOf = ({ requestId }: QuoteAnswer) =>
  bed.database.query<{ state: string }>(
    `select state from work_item where kind = 'permit' and request_id = $1`,
    [bytesOf(requestId)],
  )
const nativeOf = (address: Hex) => base().client.getBalance({ address })

describe.each(['ERC-4337', 'EIP-7702'] as const)('calls of an account of %s', (flow) => {
  test('become the deposit of their request, and its owner spends no native coin', async () => {
    const owner = await accountOf(flow)
    const quote = await quoted(owner)
    expect(quote.fees.gas.amount).toBe('0')
    const calls = await signedBy(flow, owner, callsOf(quote))
    const answer = await execute(quote, calls)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { message: 'Transaction submitted', requestId: quote.requestId },
    ])
    expect((await requests.statusOf(quote)).status).toBe('waiting')
    await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await bed.network.mine('base', 2)
    await requests.reaches(quote, 'pending')
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    expect([await nativeOf(owner.address), await nativeOf(owner.account)]).toEqual([0n, 0n])
    await waitUntil('the work is done', async () => (await workOf(quote))[0]?.state === 'done')
  })
})

type Row = {
  readonly what: string
  readonly from: UserChain
  readonly pay: LocalCurrency
  readonly receive?: LocalCurrency
  readonly amount: bigint
  /** Kind of signature from a key without code; native coin has none. */
  readonly signature: PermitKind | 'UNSUPPORTED_CURRENCY'
}

const ether = 10n ** 18n
const rows: readonly Row[] = [
  { what: 'a plain ERC-20', from: 'base', pay: 'wrapped', amount: ether / 20n, signature: 'permit2' },
  { what: 'an EIP-3009 token', from: 'base', pay: 'USDC', amount, signature: 'eip3009' },
  { what: 'an EIP-2612 token', from: 'optimism', pay: 'USDC', amount, signature: 'eip2612' },
  {
    what: 'a token that is swapped first',
    from: 'base',
    pay: 'TIDE',
    receive: 'USDC',
    amount: 50n * ether,
    signature: 'permit2',
  },
  {
    what: 'native coin',
    from: 'base',
    pay: 'native',
    amount: ether / 20n,
    signature: 'UNSUPPORTED_CURRENCY',
  },
]

/** Creates an owner who holds the input and nothing else: no native coin, unless that is the input. */
async function fundedFor({ from, pay, amount: input }: Row, flow: Flow): Promise<Owner> {
  const { chain } = bed.network.chains[from]
  const owner = await (from === 'base' ? accounts : accountsOnOptimism).accountOf(flow)
  const to = currencyAddress(bed.network, from, pay)
  const args = [owner.account, input] as const
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  const wrap = {
    what: 'wrapping',
    to,
    data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
  }
  await chain.send(payer, [
    ...(pay === 'wrapped' ? [{ ...wrap, valueWei: input }] : []),
    pay === 'native'
      ? { what: 'funds', to: owner.account, data: '0x', valueWei: input }
      : { what: 'funds', to, data: transfer },
  ])
  await bed.network.mine(from)
  return owner
}

/** Once per token and account, with native coin that the owner then no longer has. */
async function allowPermit2({ from, pay }: Row, owner: Owner): Promise<void> {
  const { chain } = bed.network.chains[from]
  await chain.node.setBalance({ address: owner.address, value: 10n * ether })
  await bed.network.mine(from)
  const args = [permit2Address, maxUint256] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  await chain.send(owner, [{ what: 'approval', to: currencyAddress(bed.network, from, pay), data }])
  await bed.network.mine(from)
  await chain.node.setBalance({ address: owner.address, value: 0n })
  await bed.network.mine(from)
}

describe.each(rows)('the owner of $what spends no native coin', (row) => {
  const { from, pay, receive = pay, amount: input, signature } = row
  const request = { from, to: from === 'base' ? 'optimism' : 'base', pay, receive, amount: input } as const

  async function becomesDeposit(quote: QuoteAnswer, owner: Owner): Promise<void> {
    await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await bed.network.mine(from, 2)
    await requests.reaches(quote, 'pending')
    const { client } = bed.network.chains[from].chain
    const left = [owner.address, owner.account].map((address) => client.getBalance({ address }))
    expect(await Promise.all(left)).toEqual([0n, 0n])
  }

  test(`by a signature: ${signature}`, async () => {
    const owner = await fundedFor(row, 'EIP-7702')
    const more = { user: owner.account, recipient: payer.address, usePermit: true }
    const body = localRequest(bed.network, { ...request, more })
    if (signature === 'UNSUPPORTED_CURRENCY') {
      expect((await refusalOf(ask(body))).slice(0, 2)).toEqual([400, signature])
      return
    }
    if (signature === 'permit2') await allowPermit2(row, owner)
    let quote = readOk(await ask(body), quoteResponseSchema)
    await waitUntil('the allowance is seen', async () => {
      await bed.network.mine(from)
      quote = readOk(await ask(body), quoteResponseSchema)
      return quote.steps.length === 1
    })
    expect([quote.steps.length, quote.fees.gas.amount]).toEqual([1, '0'])
    expect(signatureOf(quote).post.body.kind).toBe(signature)
    const signed = await signStep(quote, owner)
    expect((await postSignature(bed.url, quote, { signature: signed })).status).toBe(200)
    await becomesDeposit(quote, owner)
  })

  test.each(['ERC-4337', 'EIP-7702'] as const)('by calls of an account of %s', async (flow) => {
    const owner = await fundedFor(row, flow)
    const quote = await quoted(owner, {}, request)
    expect(quote.fees.gas.amount).toBe('0')
    const { signedBy: signedHere } = from === 'base' ? accounts : accountsOnOptimism
    const calls = await signedHere(flow, owner, callsOf(quote))
    const answer = await execute(quote, { ...calls, chainId: bed.network.chains[from].chain.chainId })
    expect(answer.status, answer.text).toBe(200)
    await becomesDeposit(quote, owner)
  })
})

describe('calls are refused', () => {
  const refused = (reason: string) => [400, 'EXECUTION_REFUSED', reason]

  test("Q-197: that send the relayer's money, go to our own contracts, or are for another chain", async () => {
    const owner = await accountOf('EIP-7702')
    const quote = await quoted(owner)
    const calls = await delegatedBatch(owner, callsOf(quote))
    expect(await refusalOf(execute(quote, { ...calls, value: '1' }))).toEqual(refused('value'))
    const { depository, fillContract, permit2Router, multicall3 } = bed.network.deployment.base
    const { fillWallet } = bed.network.keys
    for (const to of [depository, fillContract, permit2Router, multicall3, usdc(), fillWallet.address]) {
      expect(await refusalOf(execute(quote, { ...calls, to }))).toEqual(refused('own_contract'))
    }
    expect(await refusalOf(execute(quote, { ...calls, chainId: 10 }))).toEqual(refused('other_chain'))
    expect((await refusalOf(execute(quote, { ...calls, chainId: 1 })))[1]).toBe('UNSUPPORTED_CHAIN')
    expect(await workOf(quote)).toEqual([])
  })

  test('that make no deposit, one of less, one of another order, or fail', async () => {
    const owner = await accountOf('EIP-7702')
    const [quote, another] = [await quoted(owner), await quoted(owner)]
    const [approve, deposit] = callsOf(quote)
    if (approve === undefined || deposit === undefined) throw new Error('a token is approved and deposited')
    const tried = async (calls: readonly BatchedCall[]) =>
      refusalOf(execute(quote, await delegatedBatch(owner, calls)))
    expect(await tried([approve])).toEqual(refused('no_deposit'))
    expect(await tried(callsOf(another))).toEqual(refused('no_deposit'))
    const less = toHex(amount - 1n, { size: 32 }).slice(2)
    const whole = toHex(amount, { size: 32 }).slice(2)
    // CAST: a word of hex in the place of a word of hex.
    const lower = { ...deposit, data: deposit.data.replace(whole, less) as Hex }
    expect(await tried([approve, lower])).toEqual(refused('no_deposit'))
    expect(await tried([deposit])).toEqual(refused('reverted'))
    const forged = { ...(await delegatedBatch(owner, callsOf(quote))), to: payer.address }
    expect(await refusalOf(execute(quote, forged))).toEqual(refused('no_deposit'))
    expect(await workOf(quote)).toEqual([])
  })

  test('that use more gas than was quoted, or none was quoted for', async () => {
    const owner = await accountOf('EIP-7702')
    const tight = await quoted(owner, { originGasOverhead: 1 })
    const many = callsOf(tight).flatMap((call, index) =>
      index === 0 ? Array.from({ length: 40 }, () => call) : [call],
    )
    expect(await refusalOf(execute(tight, await delegatedBatch(owner, many)))).toEqual(refused('gas'))
    const none = await quoted(owner, { originGasOverhead: 0 })
    expect(BigInt(none.fees.gas.amount)).toBeGreaterThan(0n)
    const calls = await delegatedBatch(owner, callsOf(none))
    expect(await refusalOf(execute(none, calls))).toEqual(refused('no_gas'))
  })

  test('whose authorization is stale, for another chain, of the relayer, or of an account that did not sign', async () => {
    const owner = await accountOf('EIP-7702')
    const quote = await quoted(owner)
    const good = await delegatedBatch(owner, callsOf(quote))
    const [tuple] = good.authorizationList ?? []
    const tried = (change: object) =>
      refusalOf(execute(quote, { ...good, authorizationList: [{ ...tuple, ...change }] }))
    const stale = await delegatedBatch(owner, callsOf(quote), 7)
    expect(await refusalOf(execute(quote, stale))).toEqual(refused('authorization'))
    expect(await tried({ chainId: 10 })).toEqual(refused('authorization'))
    const { r, s, yParity } = await signDelegation(bed.network.keys.fillWallet.privateKey, 8_453)
    expect(await tried({ r, s, yParity })).toEqual(refused('authorization'))
    const empty = await execute(quote, { ...good, authorizationList: [] })
    expect([empty.status, readError(empty).errorCode]).toEqual([400, 'INVALID_REQUEST'])
    expect(await workOf(quote)).toEqual([])
  })

  test('without a key, by another key, for an unknown request, and for one that is executed otherwise', async () => {
    const owner = await accountOf('EIP-7702')
    const quote = await quoted(owner)
    const calls = await delegatedBatch(owner, callsOf(quote))
    expect((await execute(quote, calls, { apiKey: '' })).status).toBe(401)
    const other = await createSponsor(bed.database, 1n)
    expect(await refusalOf(execute(quote, calls, { apiKey: other.apiKey }))).toEqual(refused('other_key'))
    const unknown = { requestId: `0x${'ee'.repeat(32)}` } as const
    expect((await refusalOf(execute(unknown, calls)))[1]).toBe('REQUEST_NOT_FOUND')
    const without = { more: { requestId: undefined } }
    expect((await refusalOf(execute(quote, calls, without)))[1]).toBe('INVALID_REQUEST')
    const destinationChainExecutionData = { calls: [] }
    const extra = { more: { executionOptions: { destinationChainExecutionData } } }
    expect((await refusalOf(execute(quote, calls, extra)))[1]).toBe('INVALID_REQUEST')
    const sponsored = { more: { executionOptions: { subsidizeFees: true } } }
    expect(await refusalOf(execute(quote, calls, sponsored))).toEqual(refused('not_sponsored'))
    const permit = await quoted(owner, { usePermit: true })
    expect(await refusalOf(execute(permit, calls))).toEqual(refused('not_quoted'))
  })

  test('Q-198: that repeat the same 700 times: one piece of work; and other calls for the same request: none', async () => {
    const owner = await accountOf('EIP-7702')
    const quote = await quoted(owner)
    const calls = await delegatedBatch(owner, callsOf(quote))
    const statuses = new Set<number>()
    for (let round = 0; round < 28; round += 1) {
      const answers = await Promise.all(Array.from({ length: 25 }, () => execute(quote, calls)))
      for (const { status } of answers) statuses.add(status)
    }
    expect([...statuses]).toEqual([200])
    expect(await workOf(quote)).toHaveLength(1)
    const [approve, ...rest] = callsOf(quote)
    if (approve === undefined) throw new Error('a token is approved first')
    const other = await delegatedBatch(owner, [approve, approve, ...rest])
    expect(await refusalOf(execute(quote, other))).toEqual(refused('taken'))
  })

  test('once the quote has expired, the deposit is there, or too many of the key came to nothing', async () => {
    const owner = await accountOf('EIP-7702')
    const expired = await quoted(owner)
    const late = await delegatedBatch(owner, callsOf(expired))
    await bed.database.query(`update orders set expires_at = now() where request_id = $1`, [
      bytesOf(expired.requestId),
    ])
    expect(await refusalOf(execute(expired, late))).toEqual(refused('expired'))

    const quote = await quoted(owner)
    const calls = await delegatedBatch(owner, callsOf(quote))
    const insert = (count: number) =>
      bed.database.query(
        `insert into work_item (kind, request_id, subject, chain_id, payload, state)
         select 'permit', $1, 'failed ' || n, 8453, '{"permitKind":"calls"}', 'cancelled'
         from generate_series(1, $2::int) n`,
        [bytesOf(expired.requestId), count],
      )
    await insert(failuresPerHourMax)
    expect(await refusalOf(execute(quote, calls))).toEqual(refused('budget'))
    await bed.database.query(`delete from work_item where subject like 'failed %'`)
    expect((await execute(quote, calls)).status).toBe(200)
  })

  test('Q-198: once too many of the key came to nothing for requests that were quoted without one', async () => {
    const owner = await accountOf('EIP-7702')
    const keyless = async () => {
      const more = { user: owner.account, recipient: payer.address, originGasOverhead: 450_000 }
      const quote = readOk(await ask(localRequest(bed.network, { amount, more }), {}), quoteResponseSchema)
      return { quote, calls: await delegatedBatch(owner, callsOf(quote)) }
    }
    const failing = await keyless()
    expect((await execute(failing.quote, failing.calls)).status).toBe(200)
    await bed.database.query(
      `insert into work_item (kind, request_id, subject, chain_id, payload, state)
       select kind, request_id, 'failed ' || n, chain_id, payload, 'failed'
       from work_item, generate_series(1, $2::int) n where request_id = $1`,
      [bytesOf(failing.quote.requestId), failuresPerHourMax],
    )
    const next = await keyless()
    expect(await refusalOf(execute(next.quote, next.calls))).toEqual(refused('budget'))
    const other = await createSponsor(bed.database, 1n)
    expect((await execute(next.quote, next.calls, { apiKey: other.apiKey })).status).toBe(200)
    await bed.database.query(`delete from work_item where subject like 'failed %'`)
  })
})

describe('a sponsor', () => {
  test('pays the origin gas of calls as a part of the execution fee', async () => {
    const owner = await accountOf('EIP-7702')
    const quote = await quoted(owner, { subsidizeFees: true })
    expect(quote.fees.subsidized.amount).toBe(quote.fees.relayer.amount)
    const calls = await delegatedBatch(owner, callsOf(quote))
    const more = { executionOptions: { subsidizeFees: true } }
    expect((await execute(quote, calls, { more })).status).toBe(200)
    await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await bed.network.mine('base', 2)
    await requests.reaches(quote, 'pending')
    const balance = await base().client.readContract({
      address: usdc(),
      abi: tokenAbi,
      functionName: 'balanceOf',
      args: [owner.account],
    })
    expect([balance, await nativeOf(owner.account)]).toEqual([0n, 0n])
  })
})
