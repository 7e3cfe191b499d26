// The parameters with which the allocator builds a payload, rule P-121: they are signed over a balance that is final.
import { hubTokenId, type WithdrawRequestFacts, withdrawalInitiationKey } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { repeated } from '../../../../packages/core/test/vectors/orders.ts'
import {
  initiation,
  options,
  flowRequest as request,
  flowScripts as scripts,
  spelledRequest,
  spender,
} from '../../test/fixtures/withdrawing.ts'
import { depository, evidence, nativeCurrency, world } from '../../test/fixtures/world.ts'
import type { WithdrawalFlowRequest } from '../wire/requests.ts'
import { attestWithdrawalInitiated } from './withdrawalInitiated.ts'

/** The context of a request whose withdrawal address holds `balance`, and `finalBalance` in a final block. */
async function holding(
  body: WithdrawalFlowRequest,
  balance: bigint,
  finalBalance = balance,
  facts: WithdrawRequestFacts = spelledRequest,
) {
  const { withdrawalAddress: holder } = await initiation(body, 10n ** 30n)
  const found = { ...scripts, ethereum: { withdrawRequest: facts } }
  return world(found, { [holder]: balance }, {}, {}, { [holder]: finalBalance })
}

async function initiated(body: WithdrawalFlowRequest, balance: bigint, finalBalance = balance) {
  return attestWithdrawalInitiated(body, await holding(body, balance, finalBalance), options)
}

describe('a withdrawal that was initiated', () => {
  test('signs the payload when the address holds exactly the amount', async () => {
    const attested = await initiated(await request(), 1_000_000n)
    expect(attested.unsigned.payloadParams).toEqual({
      chainId: '1',
      depository,
      currency: nativeCurrency,
      amount: '1000000',
      spender,
      recipient: repeated('22', 20),
      nonce: `0x${'0'.repeat(62)}2a`,
      data: '0x',
      signatures: [],
    })
    expect(attested.isFinal).toBe(false)
  })

  test.each([
    ['less', 999_999n],
    ['nothing', 0n],
  ])('is refused when the address holds %s', async (_what, balance) => {
    await expect(initiated(await request(), balance)).rejects.toMatchObject({
      code: 'HUB_BALANCE_MISMATCH',
      data: { balance: balance.toString(), amount: '1000000' },
    })
  })

  test('is signed for the amount when the address holds more, where a nonce has one payload alone', async () => {
    const exact = await initiated(await request(), 1_000_000n)
    expect((await initiated(await request(), 1_000_001n)).unsigned).toEqual(exact.unsigned)
  })

  test('P-121: is signed for exactly the balance, where a nonce may have several payloads', async () => {
    const body = await request()
    const withKeys = async (balance: bigint) => {
      const { allocator, ...rest } = await holding(body, balance)
      if (allocator === undefined) throw new Error('no allocator')
      return [{ ...rest, allocator: { ...allocator, keys: 'public' as const } }, rest]
    }
    for (const context of await withKeys(1_000_001n))
      await expect(attestWithdrawalInitiated(body, context, options)).rejects.toMatchObject({
        code: 'HUB_BALANCE_MISMATCH',
      })
    for (const context of await withKeys(1_000_000n))
      expect((await attestWithdrawalInitiated(body, context, options)).unsigned.payloadParams.amount).toBe(
        '1000000',
      )
  })

  test('counts for the caps once per withdrawal address, by its amount', async () => {
    const body = await request()
    const { withdrawalAddress } = await initiation(body, 1_000_000n)
    const token = hubTokenId({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, nativeCurrency)
    const key = withdrawalInitiationKey({ hubId: 'relay', hubTokenId: token, withdrawalAddress })
    const { payout } = await initiated(body, 1_000_000n)
    expect(payout).toEqual({ key, hubTokenId: token, amount: 1_000_000n })
  })

  test('is refused for now when only the newest block of the hub shows the amount', async () => {
    await expect(initiated(await request(), 1_000_000n, 0n)).rejects.toMatchObject({
      code: 'HUB_BALANCE_NOT_FINAL',
      kind: 'not_final',
      retryAfterSeconds: 1,
    })
  })

  test('is refused where no allocator is configured', async () => {
    const { hub, ...rest } = world(scripts)
    const { withdrawRequestDomain: _domain, ...withoutAllocator } = hub
    const context = { ...rest, hub: withoutAllocator }
    await expect(attestWithdrawalInitiated(await request(), context, options)).rejects.toMatchObject({
      code: 'ALLOCATOR_NOT_CONFIGURED',
    })
  })

  test('is refused without the owner', async () => {
    const body = await request({}, { amount: '5' })
    const asked = world(scripts)
    await expect(attestWithdrawalInitiated(body, asked, options)).rejects.toMatchObject({
      code: 'INVALID_OWNER_SIGNATURE',
    })
    expect(asked.asked.map(({ what }) => what)).toEqual(['code-signature'])
  })
})

describe('the reader', () => {
  const money = {
    depository,
    currency: nativeCurrency,
    amount: 1_000_000n,
    recipient: repeated('22', 20),
    nonce: '42',
  }
  const further = { 'bitcoin-vm': { allocatorUtxos: [], feeRate: '1' } }

  test.each([
    ['', {}, money],
    [
      ', with the further members that it signed',
      { additionalData: further },
      { ...money, additionalData: further },
    ],
  ])('is asked for the money that the owner signed for%s', async (_what, change, question) => {
    const body = await request(change)
    const context = await holding(body, 1_000_000n)
    await attestWithdrawalInitiated(body, context, options)
    expect(context.asked).toStrictEqual([{ chainId: 'ethereum', what: 'withdraw-request', question }])
  })

  test.each([
    ['one that read its chain', [evidence('ethereum')]],
    ['one that only checked the text of the request', []],
  ])('gives the evidence that it has: %s', async (_which, expected) => {
    const [read] = expected
    const body = await request()
    const facts = { ...spelledRequest, ...(read !== undefined && { evidence: read }) }
    const context = await holding(body, 1_000_000n, 1_000_000n, facts)
    expect((await attestWithdrawalInitiated(body, context, options)).evidence).toEqual(expected)
  })

  test('gives its evidence behind that of the code which accepted the signature', async () => {
    const signed = await request()
    const context = await holding(signed, 1_000_000n)
    const { readerOf } = context
    const accepting = { ...readerOf('base'), readCodeSignature: async () => evidence('base') }
    const body: WithdrawalFlowRequest = { ...signed, ownerSignature: `0x${'ab'.repeat(65)}` }
    const { evidence: seen } = await attestWithdrawalInitiated(
      body,
      { ...context, readerOf: (chainId) => (chainId === 'base' ? accepting : readerOf(chainId)) },
      options,
    )
    expect(seen).toEqual([evidence('base')])
  })
})
