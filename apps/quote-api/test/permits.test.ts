// Goal: a deposit by signature needs nothing of the user but the signature, is taken once, serves only its
// own order, and ends like any other deposit. Method: the service with its jobs, PostgreSQL and real nodes
// that mine only when told; users sign the typed data of the quote as wallets do; a scripted solver relays.

import { currencyKey, type Hex } from '@causeway/core'
import { ethereumSignedDeposits } from '@causeway/families'
import {
  encodePermit,
  type PermitTerms,
  permit2Address,
  permitDigest,
  permitTypedData,
} from '@causeway/families/rules'
import { type LocalAccount, tokenAbi, waitUntil } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  addressNamed,
  callNode,
  setOwnedDigest,
  walletCode,
} from '../../../packages/localnet/test/fixtures/contractWallets.ts'
import { createContractSignatures } from '../src/access/wallets/contractSignature.ts'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { parseExecution } from '../src/requests/orders/execution.ts'
import { createPermitTokens } from '../src/requests/permits/permitTokens.ts'
import { createPermitTrials, createTakePermit } from '../src/requests/permits/takePermit.ts'
import { type Answer, post, type QuoteAnswer, readError, readOk } from './serviceSupport/callService.ts'
import { type LocalRequest, localRequest, userOf } from './serviceSupport/localRequest.ts'
import { postSignature, signatureOf, signStep } from './serviceSupport/signatureStep.ts'
import { bytesOf, debitOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, moneyOf, type TestSponsor } from './sponsorSupport/sponsors.ts'

/** Above the tier of deposits that count in their first block. */
const amount = 2_000_000_000n
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor
let user: LocalAccount
let other: LocalAccount

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ oracles: async () => oracles.setting })
  requests = bed.requests
  user = userOf(bed.network, 0)
  other = userOf(bed.network, 1)
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})
beforeEach(async () => {
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})

/** Asks on fresh heads: chains that mine only when told grow too old to be priced. */
async function ask(body: object, headers: Record<string, string> = {}): Promise<Answer> {
  let answer = await post(`${bed.url}/quote`, body, headers)
  await waitUntil('chains can be priced', async () => {
    if (answer.status !== 503) return true
    await Promise.all([bed.network.mine('base'), bed.network.mine('optimism')])
    answer = await post(`${bed.url}/quote`, body, headers)
    return answer.status !== 503
  })
  return answer
}

async function quoted(request: Partial<LocalRequest> = {}, more: object = {}): Promise<QuoteAnswer> {
  const body = localRequest(bed.network, { amount, ...request, more: { usePermit: true, ...more } })
  return readOk(await ask(body, { 'x-api-key': sponsor.apiKey }), quoteResponseSchema)
}

function refundOf({ protocol }: QuoteAnswer): string {
  const refund = protocol?.v2.orderData.inputs[0]?.refunds[0]
  if (refund === undefined) throw new Error('the quote has no order')
  return refund.minimumAmount
}

const sign = (quote: QuoteAnswer, by: Pick<LocalAccount, 'privateKey'> = user) => signStep(quote, by)
const hand = (quote: QuoteAnswer, signature: Hex, change: object = {}) =>
  postSignature(bed.url, quote, { signature, change })

async function storedTerms({ requestId }: QuoteAnswer): Promise<PermitTerms> {
  const [row] = await bed.database.query<{ execution: unknown }>(
    'select execution from orders where request_id = $1',
    [bytesOf(requestId)],
  )
  const execution = parseExecution(row?.execution)
  if (execution.by !== 'permit') throw new Error('the request is no permit')
  return execution.terms
}

function freshAccount() {
  const privateKey = generatePrivateKey()
  return { privateKey, address: privateKeyToAccount(privateKey).address }
}

const permitWork = ({ requestId }: QuoteAnswer) =>
  bed.database.query<{ state: string; reason: string | null }>(
    `select state, reason from work_item where kind = 'permit' and request_id = $1`,
    [bytesOf(requestId)],
  )
const relayed = (quote: QuoteAnswer) =>
  waitUntil('the permit is done', async () => (await permitWork(quote))[0]?.state === 'done')
const usdcOf = (holder: Hex) =>
  bed.network.chains.base.chain.client.readContract({
    address: bed.network.deployment.base.tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })
const nativeOf = (address: Hex) => bed.network.chains.base.chain.client.getBalance({ address })

async function refusalOf(asked: Promise<Answer>): Promise<readonly unknown[]> {
  const answer = await asked
  return [answer.status, readError(answer).errorCode]
}

describe('a permit quote', () => {
  test('asks for one signature, costs the user no gas, and charges that of the deposit', async () => {
    const [permit, plain] = [await quoted(), await quoted({}, { usePermit: false })]
    const { id, sign: asked, post: to, chainId } = signatureOf(permit)
    expect([id, asked.primaryType, to.endpoint, chainId]).toEqual([
      ...['authorize1', 'ReceiveWithAuthorization', '/execute/permits', 8_453],
    ])
    expect(asked.value).toMatchObject({ value: amount.toString(), nonce: permit.protocol?.v2.orderId })
    expect(permit.steps).toHaveLength(1)
    expect(permit.fees.gas.amount).toBe('0')
    expect(BigInt(permit.fees.relayerGas.amount)).toBeGreaterThan(BigInt(plain.fees.relayerGas.amount))
    expect(BigInt(plain.fees.gas.amount)).toBeGreaterThan(0n)
  })

  test('Q-195: keeps the gas of the deposit from a refund', async () => {
    const [permit, plain] = [await quoted(), await quoted({}, { usePermit: false })]
    const kept = (quote: QuoteAnswer) => amount - BigInt(refundOf(quote))
    const relayed = BigInt(permit.fees.relayerGas.amount) - BigInt(plain.fees.relayerGas.amount)
    expect(kept(permit)).toBe(kept(plain) + relayed)
  })

  test('on the other chain is a permit for the address that this deposit alone is made from', async () => {
    const quote = await quoted({ from: 'optimism', to: 'base' })
    const { sign: asked } = signatureOf(quote)
    expect([asked.primaryType, asked.value['nonce']]).toEqual(['Permit', '0'])
    expect(asked.value['spender']).not.toBe(bed.network.deployment.optimism.permitRouter.contract)
    expect((await hand(quote, await sign(quote))).status).toBe(200)
    await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await requests.reaches(quote, 'depositing')
    await bed.network.mine('optimism')
    await requests.reaches(quote, 'pending')
  })

  test('on one chain needs a sponsor', async () => {
    const body = localRequest(bed.network, { amount, to: 'base', more: { usePermit: true } })
    expect(await refusalOf(ask(body))).toEqual([400, 'UNSUPPORTED_EXECUTION_TYPE'])
    const recipient = other.address
    const quote = await quoted({ to: 'base' }, { subsidizeFees: true, recipient })
    expect([signatureOf(quote).id, signatureOf(quote).post.body.api]).toEqual(['authorize2', 'swap'])
  })
})

describe('a sponsored permit', () => {
  test('is deposited by the solver and filled, and the sponsor pays all of its gas', async () => {
    const quote = await quoted({}, { subsidizeFees: true })
    expect(quote.fees.subsidized.amount).toBe(quote.fees.relayer.amount)
    const [usdc, native] = [await usdcOf(user.address), await nativeOf(user.address)]
    const signature = await sign(quote)
    const answers = await Promise.all([1, 2, 3].map(() => hand(quote, signature)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await permitWork(quote)).toHaveLength(1)
    expect((await requests.statusOf(quote)).status).toBe('waiting')

    const deposit = await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await requests.reaches(quote, 'depositing')
    await bed.network.mine('base')
    await requests.reaches(quote, 'pending')
    await relayed(quote)
    expect([await usdcOf(user.address), await nativeOf(user.address)]).toEqual([usdc - amount, native])

    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await bed.network.mine('optimism', 3)
    await requests.reaches(quote, 'success')
    expect((await requests.statusOf(quote)).inTxHashes).toEqual([deposit])
    await bed.network.mine('base', 5)
    await bed.network.mine('optimism', 5)
    await requests.reachesStage(quote, 'settled')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - debitOf(quote),
      held: 0n,
    })
    expect((await hand(quote, signature)).status).toBe(200)
  })

  test('that anybody else submits is a deposit as well, and the solver has nothing left to do', async () => {
    const quote = await quoted({}, { subsidizeFees: true })
    const signature = await sign(quote)
    await hand(quote, signature)
    const terms = await storedTerms(quote)
    const { to, data } = encodePermit(terms, signature)
    await bed.network.chains.base.chain.send(other, [{ what: 'permit', to, data }])
    await bed.network.mine('base')
    await requests.reaches(quote, 'pending')
    await relayed(quote)
  })

  test('Q-194: that the solver gives up fails, and its hold is free again', async () => {
    const quote = await quoted({}, { subsidizeFees: true })
    await hand(quote, await sign(quote))
    const { id } = await requests.workFor(quote, 'permit')
    await bed.database.query('update work_item set attempts = 3 where id = $1', [id])
    expect((await bed.solver.fail(id, 'the transaction would revert')).status).toBe(200)
    await requests.reaches(quote, 'failure')
    expect((await requests.statusOf(quote)).failReason).toBe('TRANSACTION_SUBMISSION_FAILED')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(0n)
  })

  test('that nobody relays in time fails as expired', async () => {
    const quote = await quoted({}, { subsidizeFees: true })
    await hand(quote, await sign(quote))
    await bed.database.query(
      `update work_item set payload = jsonb_set(payload::jsonb, '{deadline}', '1000')::json
       where kind = 'permit' and request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await requests.reaches(quote, 'failure')
    expect((await requests.statusOf(quote)).failReason).toBe('SIGNATURE_EXPIRED')
    expect(await permitWork(quote)).toMatchObject([{ state: 'cancelled' }])
  })
})

describe('a contract wallet', () => {
  test('authorizes with what it stands behind, of any length', async () => {
    const wallet = addressNamed(700)
    const { base } = bed.network.chains
    const { USDC } = bed.network.deployment.base.tokens
    await callNode(base.url, 'anvil_setCode', [wallet, walletCode.owned])
    const funds = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [wallet, amount] })
    await base.chain.send(user, [{ what: 'funds', to: USDC, data: funds }])
    const quote = await quoted({}, { user: wallet, recipient: user.address })
    const signature = `0x${'ab'.repeat(97)}` as const
    expect(await refusalOf(hand(quote, signature))).toEqual([400, 'PERMIT_FAILED'])
    await setOwnedDigest(base.url, wallet, permitDigest(await storedTerms(quote)))
    expect((await hand(quote, signature)).status).toBe(200)
    await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await bed.network.mine('base')
    await requests.reaches(quote, 'pending')
    expect(await usdcOf(wallet)).toBe(0n)
  })
})

describe('Q-57: what no token takes is refused with the way that works', () => {
  const alternative = { usePermitInstead: false }
  async function refused(quote: QuoteAnswer, signature: Hex) {
    const error = readError(await hand(quote, signature))
    expect([error.statusCode, error.errorCode]).toEqual([400, 'PERMIT_FAILED'])
    return { words: error.message, data: JSON.parse(error.errorData ?? '{}') }
  }

  test('code that refuses the signature, of a contract wallet and of a delegated key', async () => {
    const { base } = bed.network.chains
    const wallet = addressNamed(701)
    await callNode(base.url, 'anvil_setCode', [wallet, walletCode['says no']])
    const quote = await quoted({}, { user: wallet, recipient: user.address })
    expect(await refused(quote, await sign(await quoted()))).toEqual({
      words:
        'The code of user on chain 8453 refuses the signature: quote without usePermit, then user approves and deposits.',
      data: expect.objectContaining(alternative),
    })
    const { steps } = await quoted({}, { user: wallet, recipient: user.address, usePermit: false })
    expect(steps.map(({ id }) => id)).toEqual(['approve', 'deposit'])
    // Nothing of the money: the trial fails, and so does the code that the token would ask.
    const delegate = freshAccount()
    const funds = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [delegate.address, amount],
    })
    await base.chain.send(user, [{ what: 'funds', to: bed.network.deployment.base.tokens.USDC, data: funds }])
    const delegated = await quoted({}, { user: delegate.address, recipient: user.address })
    const signature = await sign(delegated, delegate)
    const [terms, now] = [await storedTerms(delegated), Date.now]
    await callNode(base.url, 'anvil_setCode', [delegate.address, walletCode['says no']])
    const client = createJsonRpcClient({ chainId: 'base', endpoints: [{ url: base.url }] })
    onTestFinished(() => client.close())
    const take = createTakePermit({
      kind: terms.kind,
      database: bed.database,
      now,
      screening: undefined,
      contractsOf: () => createContractSignatures(client),
      hasCode: async () => true,
      // As a token says it that asks the code of its owners.
      trial: async () => 'fails',
      stops: { refuseRequest: async () => {} },
    })
    // CAST: the wire describes a request id as text.
    const taken = take({ requestId: delegated.requestId as Hex, signature })
    await expect(taken).rejects.toThrow('The code of user on chain 8453 refuses the signature')
  })

  test('a signature that is wrapped by ERC-6492', async () => {
    const { words, data } = await refused(await quoted(), `0x${'ab'.repeat(96)}${'6492'.repeat(16)}`)
    expect(words).toContain('wrapped by ERC-6492')
    expect(data).toMatchObject(alternative)
  })

  test('a wrong key has no code to blame', async () => {
    const { words, data } = await refused(await quoted(), await sign(await quoted(), other))
    expect(words).toBe('The signature is not of the user, or not over what was quoted.')
    expect(data).not.toMatchObject(alternative)
  })
})

describe('a trial of the deposit', () => {
  test('tells a refusal of the token from a node that does not answer', async () => {
    const quote = await quoted()
    const [terms, signature] = [await storedTerms(quote), await sign(quote)]
    const { multicall3 } = bed.network.deployment.base
    const trialAt = (url: string) => {
      const client = createJsonRpcClient({ chainId: 'base', endpoints: [{ url }] })
      onTestFinished(() => client.close())
      return createPermitTrials((chainId) => ethereumSignedDeposits({ client, chainId, multicall3 }))
    }
    const trial = trialAt(bed.network.chains.base.url)
    expect(await trial(8_453, terms, signature)).toBe('passes')
    expect(await trial(8_453, { ...terms, amount: terms.amount + 1n }, signature)).toBe('fails')
    expect(await trial(8_453, { ...terms, amount: 10n ** 30n }, signature)).toBe('short')
    const unavailable = { kind: 'upstream_unavailable' }
    await expect(trialAt(bed.url)(8_453, terms, signature)).rejects.toMatchObject(unavailable)
    const nowhere = createPermitTrials(() => undefined)
    await expect(nowhere(8_453, terms, signature)).rejects.toMatchObject(unavailable)
  })
})

describe('what tokens ask to be signed', () => {
  test('is compared with their own separator, and never guessed', async () => {
    const { base } = bed.network.chains
    const { tokens, wrappedNative, depository } = bed.network.deployment.base
    const client = createJsonRpcClient({ chainId: 'base', endpoints: [{ url: base.url }] })
    onTestFinished(() => client.close())
    const { multicall3 } = bed.network.deployment.base
    const depositsOf = (chainId: number) => ethereumSignedDeposits({ client, chainId, multicall3 })
    const known = createPermitTokens({ depositsOf, now: Date.now })
    const token = (address: Hex) =>
      ({ key: currencyKey(8_453, address), chainId: 8_453, address, symbol: 'T' }) as const
    expect(await known.domainOf(token(tokens.USDC))).toEqual({
      name: 'USD Coin',
      version: '2',
      chainId: 8_453,
    })
    for (const address of [wrappedNative, depository])
      await expect(known.domainOf(token(address))).rejects.toMatchObject({ code: 'UNSUPPORTED_CURRENCY' })
    const elsewhere = { ...token(tokens.USDC), chainId: 10 }
    const other = createPermitTokens({ depositsOf, now: Date.now })
    await expect(other.domainOf(elsewhere)).rejects.toMatchObject({ code: 'UNSUPPORTED_CURRENCY' })
    const blind = createPermitTokens({ depositsOf: () => undefined, now: Date.now })
    await expect(blind.nonceOf(token(tokens.USDC), user.address)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
  })
})

describe('a signature is refused', () => {
  const failed = [400, 'PERMIT_FAILED']

  test('Q-193: that is of somebody else, of another quote, or nothing at all', async () => {
    const [quote, another] = [await quoted(), await quoted()]
    const signatures = [
      await sign(quote, other),
      await sign(another),
      `0x${'00'.repeat(65)}` as const,
      `0x${'ab'.repeat(300)}` as const,
      '0x' as const,
    ]
    for (const signature of signatures) expect(await refusalOf(hand(quote, signature))).toEqual(failed)
    expect(await refusalOf(hand(quote, '0x1'))).toEqual([400, 'INVALID_REQUEST'])
    expect(await permitWork(quote)).toEqual([])
  })

  test('for a request that is unknown, needs none, or is of another kind', async () => {
    const quote = await quoted()
    const signature = await sign(quote)
    const unknown = { requestId: `0x${'ee'.repeat(32)}` }
    expect(await refusalOf(hand(quote, signature, unknown))).toEqual([404, 'REQUEST_NOT_FOUND'])
    const { requestId } = await quoted({}, { usePermit: false })
    expect(await refusalOf(hand(quote, signature, { requestId }))).toEqual(failed)
    expect(await refusalOf(hand(quote, signature, { kind: 'eip2612' }))).toEqual(failed)
    expect(await refusalOf(hand(quote, signature, { kind: 'permit2' }))).toEqual(failed)
    expect(await refusalOf(hand(quote, signature, { kind: 'permit3' }))).toEqual([400, 'INVALID_REQUEST'])
  })

  test('once it has expired, and another one over the same order', async () => {
    const quote = await quoted()
    await bed.database.query(
      `update orders set execution = jsonb_set(execution::jsonb, '{deadlineSeconds}', '1000')::json
       where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    const { value: message, ...typed } = permitTypedData(await storedTerms(quote))
    const late = await privateKeyToAccount(user.privateKey).signTypedData({ ...typed, message })
    expect(await refusalOf(hand(quote, late))).toEqual(failed)
    expect(await refusalOf(hand(quote, await sign(quote)))).toEqual(failed)
  })

  test('Q-193: while its owner has too little, or cancelled it at the token', async () => {
    const poor = freshAccount()
    const quote = await quoted({}, { user: poor.address })
    const signature = await sign(quote, poor)
    expect(await refusalOf(hand(quote, signature))).toEqual([400, 'GASLESS_PERMIT_BALANCE_TOO_LOW'])

    const cancelled = await quoted()
    const terms = await storedTerms(cancelled)
    if (terms.kind === 'permit2') throw new Error('the token has a permit of its own')
    const cancellation = await privateKeyToAccount(user.privateKey).signTypedData({
      domain: { ...terms.domain, verifyingContract: terms.token },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: user.address, nonce: terms.orderId },
    })
    // CAST: halves of a signature are 32 bytes of hex.
    const [r, s] = [cancellation.slice(0, 66) as Hex, `0x${cancellation.slice(66, 130)}` as Hex]
    const v = Number.parseInt(cancellation.slice(130), 16)
    const args = [user.address, terms.orderId, v, r, s] as const
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'cancelAuthorization', args })
    await bed.network.chains.base.chain.send(user, [{ what: 'cancellation', to: terms.token, data }])
    expect(await refusalOf(hand(cancelled, await sign(cancelled)))).toEqual(failed)
  })

  test('once the order has its deposit', async () => {
    const quote = await quoted()
    const signature = await sign(quote)
    await requests.deposit(quote, { amount })
    await bed.network.mine('base')
    await requests.reaches(quote, 'pending')
    expect(await refusalOf(hand(quote, signature))).toEqual(failed)
    expect(await permitWork(quote)).toEqual([])
  })
})

describe('a permit through Permit2', () => {
  const tide = 500n * 10n ** 18n
  const failed = [400, 'PERMIT_FAILED']
  const swapped = (more: object = {}, request: Partial<LocalRequest> = {}) =>
    quoted({ pay: 'TIDE', receive: 'USDC', amount: tide, ...request }, more)
  const allow = async (token: Hex, value = 2n ** 256n - 1n) => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [permit2Address, value] })
    await bed.network.chains.base.chain.send(user, [{ what: 'approval', to: token, data }])
  }

  test('asks for an allowance once, and from then on for a signature alone', async () => {
    const { TIDE } = bed.network.deployment.base.tokens
    await allow(TIDE, 0n)
    await bed.network.mine('base')
    const first = await swapped()
    expect(first.steps.map(({ id }) => id)).toEqual(['approve', 'authorize1'])
    const [approval] = first.steps
    const data = approval?.kind === 'transaction' ? approval.items[0]?.data : undefined
    const args = [permit2Address, 2n ** 256n - 1n] as const
    expect(data).toMatchObject({
      to: TIDE,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }),
    })
    expect(BigInt(first.fees.gas.amount)).toBeGreaterThan(0n)
    await allow(TIDE)
    let next = first
    await waitUntil('the allowance is seen', async () => {
      await bed.network.mine('base')
      next = await swapped()
      return next.steps.length === 1
    })
    expect([next.steps[0]?.id, next.fees.gas.amount]).toEqual(['authorize1', '0'])
  })

  test('swaps first where the solver does not take the token, and deposits what that gave', async () => {
    await allow(bed.network.deployment.base.tokens.TIDE)
    const quote = await swapped()
    const { sign: asked, post: to } = signatureOf(quote)
    expect([asked.primaryType, asked.domain.name, asked.domain.version, to.body.kind]).toEqual([
      ...['PermitBatchWitnessTransferFrom', 'Permit2', undefined, 'permit2'],
    ])
    const native = await nativeOf(user.address)
    const answers = await Promise.all([1, 2, 3].map(async () => hand(quote, await sign(quote))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await permitWork(quote)).toHaveLength(1)
    await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await requests.reaches(quote, 'depositing')
    await bed.network.mine('base', 2)
    await requests.reaches(quote, 'pending')
    expect(await nativeOf(user.address)).toBe(native)
    await relayed(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await bed.network.mine('optimism', 3)
    await requests.reaches(quote, 'success')
  })

  test('spends exactly the input on exactly the output, and gives the rest back', async () => {
    await allow(bed.network.deployment.base.tokens.TIDE)
    const quote = await swapped({ tradeType: 'EXACT_OUTPUT' }, { amount: 100_000_000n })
    expect((await hand(quote, await sign(quote))).status).toBe(200)
    await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await bed.network.mine('base', 2)
    await requests.reaches(quote, 'pending')
    const { permit2Router } = bed.network.deployment.base
    expect(await usdcOf(permit2Router)).toBe(0n)
  })

  test('on one chain is for sponsored requests, under the word of the public interface', async () => {
    const body = localRequest(bed.network, {
      pay: 'TIDE',
      receive: 'USDC',
      to: 'base',
      amount: tide,
      more: { usePermit: true },
    })
    expect(await refusalOf(ask(body))).toEqual([400, 'UNSUPPORTED_EXECUTION_TYPE'])
    const quote = await swapped({ subsidizeFees: true }, { to: 'base' })
    expect([signatureOf(quote).id, signatureOf(quote).post.body.api]).toEqual(['authorize2', 'user-swap'])
  })

  test('takes no native coin, and no signature over other terms, chains or contracts', async () => {
    const native = localRequest(bed.network, { pay: 'native', amount: 10n ** 18n, more: { usePermit: true } })
    expect(await refusalOf(ask(native))).toEqual([400, 'UNSUPPORTED_CURRENCY'])
    await allow(bed.network.deployment.base.tokens.TIDE)
    const quote = await swapped()
    const terms = await storedTerms(quote)
    if (terms.kind !== 'permit2') throw new Error('the token has no permit of its own here')
    const typed = permitTypedData(terms)
    const { value, domain } = typed
    const { USDC } = bed.network.deployment.base.tokens
    const altered = [
      { ...typed, domain: { ...domain, chainId: 10 } },
      { ...typed, domain: { ...domain, verifyingContract: terms.router } },
      { ...typed, value: { ...value, spender: user.address } },
      { ...typed, value: { ...value, permitted: [{ token: USDC, amount: tide.toString() }] } },
      { ...typed, value: { ...value, permitted: [{ token: terms.token, amount: (tide * 2n).toString() }] } },
      { ...typed, value: { ...value, deadline: 4_000_000_000 } },
    ]
    for (const { value: message, ...rest } of altered) {
      const signature = await privateKeyToAccount(user.privateKey).signTypedData({ ...rest, message })
      expect(await refusalOf(hand(quote, signature))).toEqual(failed)
    }
    expect(await refusalOf(hand(quote, await sign(quote, other)))).toEqual(failed)
    expect(await permitWork(quote)).toEqual([])
  })

  test('fails by name once its tokens or its allowance are gone', async () => {
    const { TIDE } = bed.network.deployment.base.tokens
    await allow(TIDE)
    const rich = await swapped({}, { amount: tide })
    const poor = freshAccount()
    const quote = await swapped({ user: poor.address })
    const signature = await sign(quote, poor)
    expect(await refusalOf(hand(quote, signature))).toEqual([400, 'GASLESS_PERMIT_BALANCE_TOO_LOW'])
    await allow(TIDE, 0n)
    expect(await refusalOf(hand(rich, await sign(rich)))).toEqual(failed)
    await allow(TIDE)
    expect((await hand(rich, await sign(rich))).status).toBe(200)
  })
})
