// Goal: the attacks that are open on the public contracts fail here: a second request over the same money, two
// owners behind one payout, a Solana payload that dies unsigned, a Bitcoin output that two payouts spend and a
// reorganization between them. Method: three peered oracles, the allocator of the local hub, and a chain of each
// family.
// @source rules P-69, P-117, P-121, P-122, F-135
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { grantBalance } from '../apps/oracle/test/support/hubLedger.ts'
import {
  hubBalance,
  submitExecution,
  submitWithdrawRequest,
} from '../apps/oracle/test/support/hubSubmission.ts'
import { accept, ask } from '../apps/oracle/test/support/ownerWithdrawals.ts'
import { bitcoinPayment, type Venue } from '../packages/localnet/test/support/familyVenues.ts'
import { type Requested, startWithdrawalBed, type WithdrawalBed } from './support/withdrawalBed.ts'

let bed: WithdrawalBed
beforeAll(async () => {
  bed = await startWithdrawalBed()
})
afterAll(() => bed?.stop())

const user = (index: number) => {
  const account = bed.network.keys.users[index]
  if (account === undefined) throw new Error(`no user ${index}`)
  return account
}
const held = ({ holder, token }: Requested) => hubBalance(bed.network, holder, token)
const owned = ({ alias, token }: Requested) => hubBalance(bed.network, alias, token)

let last = 0
const nextNonce = () => {
  last += 1
  return String(last)
}
type Data = ReturnType<NonNullable<Venue['additionalData']>>

/** @param data default: the venue's own */
async function request(venue: Venue, owner: number, data: Data | undefined = venue.additionalData?.(false)) {
  const additionalData = data === undefined ? {} : { additionalData: data }
  return bed.request(venue, { owner: user(owner), nonce: nextNonce(), ...additionalData })
}

/** Signs the request of one owner again with other data. */
async function withData({ flow }: Requested, owner: number, additionalData: Data) {
  const { ownerSignature: _own, ...rest } = flow
  return bed.signed(user(owner), { ...Object(rest), additionalData })
}

const dataVenues = ['bitcoin', 'hyperliquid', 'lighter'] as const

describe.each(dataVenues)('(a) a second request over one withdrawal address on %s', (key) => {
  test('with other data is not issued, although the address still holds the money', async () => {
    const venue = bed.venues[key]
    const requested = await request(venue, 0)
    const [first, second] = await Promise.all([
      bed.authorise(requested.flow),
      bed.authorise(await withData(requested, 0, venue.additionalData?.(false) ?? {})),
    ])
    expect(second.body.payloadParams.data).not.toBe(first.body.payloadParams.data)
    expect(await submitWithdrawRequest(bed.network, first.body.payloadParams)).toBe('accepted')
    expect(await submitWithdrawRequest(bed.network, second.body.payloadParams)).toBe('NonceUsed')
    // A payload that was not issued never expires.
    const other = await withData(requested, 0, venue.additionalData?.(false) ?? {})
    expect((await bed.v2({ flow: other })).body).toEqual({ status: 0 })
  })
})

describe.each(['hyperliquid', 'lighter'] as const)('two owners with equal withdrawals on %s', (key) => {
  test('have payouts of their own: the second one is issued only with bytes of its own', async () => {
    const venue = bed.venues[key]
    const data = venue.additionalData?.(false)
    const [one, other] = [await request(venue, 1, data), await request(venue, 2, data)]
    const { body } = await bed.authorise(other.flow)
    const issued = await bed.issue(one)
    expect(await submitWithdrawRequest(bed.network, body.payloadParams)).toBe('DuplicatePayload')
    const transactionId = await venue.execute(issued.payload, [])
    expect((await bed.v2(other, { transactionId })).body).toEqual({ status: 0 })
    expect(await bed.v1(other, issued, { transactionId })).toMatchObject({
      status: 400,
      body: { errorCode: 'WITHDRAWAL_NOT_ISSUED' },
    })
    await accept(bed.network, await bed.v2(one, { transactionId }))
    expect([await held(one), await held(other)]).toEqual([0n, venue.amount])
    // His nonce is not used up: the same owner asks again.
    const flow = await withData(other, 2, venue.additionalData?.(false) ?? {})
    const again = await bed.issue({ ...other, flow })
    expect(again.payload).not.toBe(issued.payload)
  })
})

describe('(c) a Solana payload that a stranger had built early', () => {
  test('and that died before anybody signed it is given back, and its owner is paid for another one', async () => {
    const venue = bed.venues.solana
    const requested = await request(venue, 3)
    const dead = await bed.issue(requested)
    expect(await bed.stored(dead)).toEqual(['0x'])
    await venue.expire(dead.payload)
    const back = await bed.v2(requested)
    expect(back.body).toMatchObject({ status: 2 })
    await accept(bed.network, back)
    expect([await held(requested), await owned(requested)]).toEqual([0n, venue.amount])

    // Solana's clock was put behind the dead one's end; the hub's follows, or the next payload would end before it too.
    await bed.network.chains.hub.chain.node.increaseTime({ seconds: 60 })
    await bed.startSigner()
    expect(await submitExecution(bed.network, (await bed.v2(requested)).body.execution)).toBe(
      'AlreadyExecuted',
    )

    const again = await request(venue, 3)
    const issued = await bed.issue(again)
    await waitUntil('the next one is signed', async () => !(await bed.stored(issued)).includes('0x'))
    const transactionId = await venue.execute(issued.payload, await bed.stored(issued))
    await accept(bed.network, await bed.v2(again, { transactionId }))
    expect([await held(again), await owned(again)]).toEqual([0n, venue.amount])
    // The hub holds nothing for the dead one any more, so it is never signed.
    expect(await bed.stored(dead)).toEqual(['0x'])
    await expect(venue.execute(dead.payload, await bed.stored(dead))).rejects.toThrow()
  })
})

describe('(e) an output of the Bitcoin depository that two payouts spend', () => {
  const issuedTwice = async () => {
    const venue = bed.venues.bitcoin
    const data = venue.additionalData()
    const [one, other] = [await request(venue, 4, data), await request(venue, 5, more(data))]
    return { venue, one, other, first: await bed.issue(one), second: await bed.issue(other) }
  }
  /** Other bytes over the same output. */
  const more = (data: Data): Data => ({ 'bitcoin-vm': { ...data['bitcoin-vm'], feeRate: '6' } })
  const bothAsked = (one: Requested, other: Requested) => Promise.all([bed.v2(one), bed.v2(other)])

  test('gives nothing back on one confirmation, and after a reorganization pays one and gives one back', async () => {
    const { venue, one, other, first, second } = await issuedTwice()
    venue.chain.mine(bitcoinPayment(second.payload))
    for (const { body } of await bothAsked(one, other)) expect(body).toEqual({ status: 0 })

    venue.chain.drop(1)
    const transactionId = await venue.execute(first.payload, [])
    const [burned, given] = await Promise.all([bed.v2(one, { transactionId }), bed.v2(other)])
    expect([burned.body.status, given.body.status]).toEqual([1, 2])
    await accept(bed.network, burned)
    await accept(bed.network, given)
    expect([await held(one), await owned(one)]).toEqual([0n, 0n])
    expect([await held(other), await owned(other)]).toEqual([0n, venue.amount])
  })

  test('is not a stranger’s: an output that he could spend again is never asked to be one of a payload', async () => {
    const venue = bed.venues.bitcoin
    const data = venue.additionalData()
    const own = venue.fund(Uint8Array.of(0, 20, ...new Uint8Array(20).fill(9)), 5_000n)
    const allocatorUtxos = [...Object(data['bitcoin-vm'])['allocatorUtxos'], own]
    const requested = await request(venue, 4, { 'bitcoin-vm': { ...data['bitcoin-vm'], allocatorUtxos } })
    expect(await bed.authorise(requested.flow)).toMatchObject({
      status: 400,
      body: { errorCode: 'INVALID_WITHDRAW_REQUEST' },
    })
  })
})

// Last: it takes blocks of the hub back.
describe('(f) a balance that the hub may still drop', () => {
  test('P-121: gets nothing signed: a reorganization would let its owner take it out twice', async () => {
    const { network, venues } = bed
    const { node } = network.chains.hub.chain
    const venue = venues.base
    const final = await request(venue, 5)
    expect((await bed.authorise(final.flow)).status).toBe(200)
    // More money of the same owner, and its way to another withdrawal address in a block that is not final.
    const { ownerSignature: _own, ...rest } = final.flow
    const flow = await bed.signed(user(5), { ...Object(rest), nonce: nextNonce() })
    await grantBalance(network, { holder: final.alias, token: final.token, amount: venue.amount })
    await network.mine('hub', 3)
    const before = await node.snapshot()
    const initiation = await ask(bed.trio, 'withdrawal-initiation/v2', flow)
    expect(await submitExecution(network, initiation.body.execution, { blocks: 0 })).toBe('accepted')
    expect(await bed.authorise(flow)).toMatchObject({
      status: 400,
      body: { errorCode: 'HUB_BALANCE_NOT_FINAL', retryable: true },
    })
    await node.revert({ id: before })
    expect(await bed.authorise(flow)).toMatchObject({
      status: 400,
      body: { errorCode: 'HUB_BALANCE_MISMATCH' },
    })
    expect(await submitExecution(network, initiation.body.execution)).toBe('accepted')
    expect((await bed.authorise(flow)).status).toBe(200)
  })
})
