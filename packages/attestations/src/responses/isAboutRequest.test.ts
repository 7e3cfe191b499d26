import type { Hex } from '@causeway/core'
import {
  encodeBurnAction,
  encodeTransferAction,
  hubAlias,
  hubTokenId,
  withdrawalAddress,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { normaliseWithdrawRequest } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import {
  networkOf,
  repeated,
  solanaDepository,
  solanaOwner,
  solanaUsdc,
} from '../../../core/test/vectors/orders.ts'
import { sampleContext, sampleResponses } from '../../test/vectors/responses.ts'
import type { AttestationKind } from './attestationKind.ts'
import { attestationKinds } from './kinds.ts'

type Request = Record<string, unknown>

function ask<Response>(kind: AttestationKind<Response>, response: unknown, request: Request): boolean {
  return kind.isAbout(kind.responseSchema.parse(response), request, networkOf)
}

const { fills, refunds, deposits, withdrawals } = attestationKinds
const fill = sampleResponses.fills
const refund = {
  ...sampleResponses.refunds,
  execution: {
    ...sampleResponses.refunds.execution,
    actions: sampleResponses.refunds.execution.actions.slice(0, 1),
  },
}
const fillRequest: Request = { ...fill.message.data }
const refundRequest: Request = { ...refund.message.data }
const otherKey = repeated('ee', 32)

describe('a fill', () => {
  test('is about the request whose order, inputs and fill it names', () => {
    expect(ask(fills, fill, fillRequest)).toBe(true)
    const upper = String(fillRequest['orderSignature']).toUpperCase().replace('0X', '0x')
    expect(ask(fills, fill, { ...fillRequest, orderSignature: upper })).toBe(true)
  })

  test.each<[string, Request]>([
    ['another order', { order: { ...fill.message.data.order, salt: '2' } }],
    ['another signature of the order', { orderSignature: '0x1234' }],
    ['another fill', { fill: { transactionId: repeated('ab', 32) } }],
    ['other inputs', { inputs: [] }],
    ['an order that is none', { order: null, inputs: 7, fill: 'x' }],
  ])('is not about %s', (_what, change) => {
    expect(ask(fills, fill, { ...fillRequest, ...change })).toBe(false)
  })

  test('has the one key of its order and deposits, unless it was forced', () => {
    const moved = { ...fill, execution: { ...fill.execution, idempotencyKey: otherKey } }
    expect(ask(fills, moved, fillRequest)).toBe(false)
    expect(ask(fills, moved, { ...fillRequest, force: true })).toBe(true)
    const shorter = { ...fill, execution: { ...fill.execution, actions: fill.execution.actions.slice(0, 1) } }
    expect(ask(fills, shorter, fillRequest)).toBe(false)
  })
})

test('a refund pays no fees and names the refunds that were asked for', () => {
  expect(ask(refunds, refund, refundRequest)).toBe(true)
  expect(ask(refunds, sampleResponses.refunds, refundRequest)).toBe(false)
  const [first] = refund.message.data.refunds
  for (const changed of [
    [],
    [{ ...first, transactionId: repeated('ab', 32) }],
    [{ ...first, refundIndex: 1 }],
  ]) {
    expect(ask(refunds, refund, { ...refundRequest, refunds: changed })).toBe(false)
  }
})

test('deposits are about their transaction, and mint what their messages say', () => {
  const request = sampleResponses.deposits.messages[0].data
  expect(ask(deposits, sampleResponses.deposits, request)).toBe(true)
  expect(ask(deposits, { messages: [] }, request)).toBe(true)
  expect(ask(deposits, sampleResponses.deposits, { ...request, transactionId: repeated('ab', 32) })).toBe(
    false,
  )
  expect(ask(deposits, sampleResponses.deposits, { ...request, chainId: 'unheard' })).toBe(false)
  expect(ask(deposits, { messages: sampleResponses.deposits.messages }, request)).toBe(false)
})

test('a withdrawal is about its bytes, and settles the address of the request alone', () => {
  const { message } = sampleResponses.withdrawals
  const request: Request = { ...message.data }
  expect(ask(withdrawals, { message }, request)).toBe(true)
  expect(ask(withdrawals, { message }, { ...request, withdrawal: '0x5678' })).toBe(false)
  expect(ask(withdrawals, sampleResponses.withdrawals, request)).toBe(false)
})

describe('what settles a withdrawal', () => {
  const chain = { chainId: 'ethereum', ...mainNetwork('ethereum-vm') } as const
  const [owner, recipient, currency] = [repeated('11', 20), repeated('22', 20), repeated('00', 20)]
  const depository = '0x4cd00e387622c35bddb9b4c962c136462338bc31'
  const ownerAlias = hubAlias(chain, owner)
  const hubFrom = withdrawalAddress(chain, { depository, currency, recipient, ownerAlias, nonce: 42n })
  const moved = { hubFrom, hubTokenId: hubTokenId(chain, currency), amount: 5n }
  const burn = encodeBurnAction(moved)
  const giveBack = encodeTransferAction({ ...moved, hubTo: ownerAlias })
  const toLiar = encodeTransferAction({ ...moved, hubTo: repeated('99', 20) })
  const execution = (...actions: readonly Hex[]) => ({ idempotencyKey: otherKey, actions, signatures: [] })
  const addressRequest = {
    chainId: 'ethereum',
    currency,
    recipient,
    withdrawer: owner,
    withdrawerChainId: 'ethereum',
    withdrawalNonce: '42',
  }

  /** Answers of both routes with these actions, each beside its request. */
  function areAbout(status: 0 | 1 | 2, actions: readonly Hex[], change: object = {}): readonly boolean[] {
    const data = { chainId: 'ethereum', withdrawal: '0x1234', withdrawalAddressRequest: addressRequest }
    const message = {
      data,
      signatures: [],
      result: { withdrawalId: repeated('42', 32), depository, status },
    }
    const asked = { ...addressRequest, ...change }
    const flow = {
      chainId: 'ethereum',
      currency,
      recipient,
      amount: '5',
      nonce: '42',
      owner,
      ownerChainId: 'ethereum',
      depository,
      ...change,
    }
    return [
      ask(
        withdrawals,
        {
          message: { ...message, data: { ...data, withdrawalAddressRequest: asked } },
          execution: execution(...actions),
        },
        { ...data, withdrawalAddressRequest: asked },
      ),
      ask(attestationKinds['withdrawals-v2'], { status, execution: execution(...actions) }, flow),
    ]
  }

  test('burns what an executed one held, and gives an expired one back to its owner', () => {
    expect(areAbout(1, [burn])).toEqual([true, true])
    expect(areAbout(2, [giveBack])).toEqual([true, true])
  })

  test.each<[string, 0 | 1 | 2, readonly Hex[]]>([
    ['gives an executed one back', 1, [giveBack]],
    ['burns an expired one', 2, [burn]],
    ['settles a pending one', 0, [burn]],
    ['gives it to somebody else', 2, [toLiar]],
    ['does more', 1, [burn, giveBack]],
    ['burns another token', 1, [encodeBurnAction({ ...moved, hubTokenId: 1n })]],
    ['burns from another address', 1, [encodeBurnAction({ ...moved, hubFrom: ownerAlias })]],
    ['is no action', 1, ['0x']],
  ])('is not the answer that %s', (_what, status, actions) => {
    expect(areAbout(status, actions)).toEqual([false, false])
  })

  test('is not that of another recipient', () => {
    expect(areAbout(1, [burn], { recipient: repeated('23', 20) })).toEqual([false, false])
  })

  test('has the amount that was asked for, where the request says it', () => {
    const kind = attestationKinds['withdrawals-v2']
    const flow = { chainId: 'ethereum', currency, recipient, nonce: '42', owner, ownerChainId: 'ethereum' }
    const answer = { status: 1, execution: execution(burn) }
    // Without a depository only our own configuration knows the address.
    expect(ask(kind, answer, { ...flow, amount: '5' })).toBe(true)
    expect(ask(kind, answer, { ...flow, amount: '6' })).toBe(false)
  })
})

test('an initiation moves what was asked for, from its owner', () => {
  const kind = attestationKinds['withdrawal-initiation']
  const chain = { chainId: 'ethereum', ...mainNetwork('ethereum-vm') } as const
  const [owner, currency] = [repeated('11', 20), repeated('00', 20)]
  const request = { chainId: 'ethereum', ownerChainId: 'ethereum', owner, currency, amount: '5', nonce: '1' }
  const { withdrawalAddress: hubTo, execution } = sampleResponses['withdrawal-initiation']
  const action = encodeTransferAction({
    hubFrom: hubAlias(chain, owner),
    hubTo,
    hubTokenId: hubTokenId(chain, currency),
    amount: 5n,
  })
  const response = { withdrawalAddress: hubTo, execution: { ...execution, actions: [action] } }
  expect(ask(kind, response, request)).toBe(true)
  expect(ask(kind, response, { ...request, amount: '6' })).toBe(false)
  expect(ask(kind, response, { ...request, owner: repeated('22', 20) })).toBe(false)
  const elsewhere = { depository: repeated('33', 20), recipient: repeated('44', 20) }
  expect(ask(kind, response, { ...request, ...elsewhere })).toBe(false)
})

describe('payload parameters', () => {
  const kind = attestationKinds['withdrawal-initiated']
  const chain = { chainId: 'ethereum', ...mainNetwork('ethereum-vm') } as const
  const owner = repeated('11', 20)
  const { payloadParams } = sampleResponses['withdrawal-initiated']
  const response = { payloadParams: { ...payloadParams, spender: hubAlias(chain, owner) } }
  const { nonce, amount, currency, recipient, depository } = payloadParams
  const asked = { chainId: 'ethereum', ownerChainId: 'ethereum', owner, nonce, amount, currency, recipient }

  test('are about the withdrawal that the request names, in any case of its digits', () => {
    expect(ask(kind, response, asked)).toBe(true)
    expect(ask(kind, response, { ...asked, depository })).toBe(true)
    const upper = `0x${recipient.slice(2).toUpperCase()}`
    expect(ask(kind, response, { ...asked, recipient: upper })).toBe(true)
  })

  test.each<[string, Request]>([
    ['nonce', { nonce: '1' }],
    ['nonce that is none', { nonce: 'x' }],
    ['amount', { amount: '1' }],
    ['owner', { owner: repeated('12', 20) }],
    ['currency', { currency: repeated('33', 20) }],
    ['recipient', { recipient: repeated('34', 20) }],
    ['depository', { depository: repeated('35', 20) }],
    ['chain that nobody knows', { chainId: 'unheard' }],
  ])('P-91: are not about another %s', (_what, change) => {
    expect(ask(kind, response, { ...asked, ...change })).toBe(false)
  })

  test('may spell hex in capitals', () => {
    const recipient = `0x${response.payloadParams.recipient.slice(2).toUpperCase()}`
    expect(ask(kind, { payloadParams: { ...response.payloadParams, recipient } }, asked)).toBe(true)
  })

  test('of another family are compared as its allocator spells them', () => {
    const named = {
      currency: '1'.repeat(32),
      recipient: solanaOwner,
      depository: solanaDepository,
      chainId: 'solana',
    }
    const spelt = normaliseWithdrawRequest(mainNetwork('solana-vm'), named)
    const { kind: _kind, ...accounts } = spelt
    const solana = { payloadParams: { ...response.payloadParams, ...accounts } }
    const question = { ...asked, ...named }
    expect(ask(kind, solana, question)).toBe(true)
    expect(ask(kind, solana, { ...question, depository: undefined })).toBe(true)
    for (const change of [
      { owner: repeated('12', 20) },
      { currency: solanaUsdc },
      { recipient: solanaDepository },
      { depository: solanaOwner },
      { recipient: 'x' },
    ]) {
      expect(ask(kind, solana, { ...question, ...change }), JSON.stringify(change)).toBe(false)
    }
  })
})

test('a recovery has the one key of the deposit that was asked for, and moves once', () => {
  const kind = attestationKinds.recovery
  const { recovery } = sampleResponses
  const onchainId = '0xd16f7f4f46f9cf8c7e42b371e81a4867d79e7a3572db9949b95a50babcf3137c'
  expect(ask(kind, recovery, { onchainId })).toBe(true)
  expect(ask(kind, recovery, { onchainId: repeated('22', 32) })).toBe(false)
  const { execution } = recovery
  const twice = { execution: { ...execution, actions: [...execution.actions, ...execution.actions] } }
  expect(ask(kind, twice, { onchainId })).toBe(false)
  const held = kind.normalise(kind.withoutExecution(kind.responseSchema.parse(recovery)), networkOf)
  expect(held).toEqual({ executionHeld: 'SIGNING_CAP' })
  expect(kind.signatureArrays(held, sampleContext)).toEqual([])
  expect([ask(kind, held, { onchainId }), ask(kind, {}, { onchainId })]).toEqual([true, false])
})

test("a promise is the asked solver's of the asked order, in every member of its entry", () => {
  const kind = attestationKinds['no-fill-or-refund']
  const sample = sampleResponses['no-fill-or-refund']
  const request: Request = {
    solverChainId: 'base',
    solver: '0x2e988a386a799f506693793c6a5af6b54dfaabfb',
    orderId: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4',
  }
  expect(ask(kind, sample, request)).toBe(true)
  for (const change of [
    { solverChainId: 'optimism' },
    { solver: repeated('11', 20) },
    { solver: 'nobody' },
    { orderId: repeated('22', 32) },
  ]) {
    expect(ask(kind, sample, { ...request, ...change })).toBe(false)
  }
  for (const change of [{ user: repeated('11', 20) }, { data: '0x02' }, { nonce: repeated('33', 32) }]) {
    expect(ask(kind, { genericMapping: { ...sample.genericMapping, ...change } }, request)).toBe(false)
  }
})

test("a mapping is the asked wallet's of the asked nonce, in every member of its entry", () => {
  const kind = attestationKinds['nonce-mapping']
  const sample = sampleResponses['nonce-mapping']
  const request: Request = {
    walletChainId: 'hyperliquid',
    wallet: '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a',
    nonce: '1761563890702',
    depositor: repeated('22', 20),
    signatureChainId: 'base',
    id: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4',
  }
  expect(ask(kind, sample, request)).toBe(true)
  for (const change of [
    { wallet: repeated('11', 20) },
    { nonce: '1761563890703' },
    { nonce: 'one' },
    { depositor: repeated('23', 20) },
    { id: repeated('22', 32) },
    { walletChainId: 'moon' },
  ]) {
    expect(ask(kind, sample, { ...request, ...change })).toBe(false)
  }
  for (const change of [{ user: repeated('11', 20) }, { data: '0x02' }, { nonce: repeated('33', 32) }]) {
    expect(ask(kind, { genericMapping: { ...sample.genericMapping, ...change } }, request)).toBe(false)
  }
})
