// Goal: what honest oracles signed for one transaction is no answer to a request for another. Attack: a true answer with one
// member of something else. Method: the sample of each route, changed one member at a time.
import {
  depositsExecutionKey,
  encodeMintAction,
  encodeTransferAction,
  hubAlias,
  hubTokenId,
  withdrawalAddress,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { networkOf, repeated } from '../../../core/test/vectors/orders.ts'
import { sampleResponses } from '../../test/vectors/responses.ts'
import type { AttestationKind } from './attestationKind.ts'
import { attestationKinds } from './kinds.ts'

function ask<Response>(kind: AttestationKind<Response>, response: unknown, request: object): boolean {
  return kind.isAbout(kind.responseSchema.parse(response), { ...request }, networkOf)
}
const chain = { chainId: 'ethereum', ...mainNetwork('ethereum-vm') } as const
const held = 'SIGNING_CAP'

describe('P-91: deposits', () => {
  const kind = attestationKinds.deposits
  const { messages, execution } = sampleResponses.deposits
  const [message] = messages
  const [metadata] = execution.metadata
  const request = message.data
  const isAbout = (response: object) => ask(kind, response, request)
  const executing = (change: object) => isAbout({ messages, execution: { ...execution, ...change } })

  test('that are held back are about their transaction too, and none are held of none', () => {
    expect(isAbout({ messages, executionHeld: held })).toBe(true)
    expect(isAbout({ messages: [], executionHeld: held })).toBe(false)
    expect(isAbout({ messages: [], execution })).toBe(false)
    const other = { ...message, data: { ...message.data, transactionId: repeated('ab', 32) } }
    expect(isAbout({ messages: [message, other], executionHeld: held })).toBe(false)
    for (const change of [{ chainId: 'base' }, { transactionId: repeated('ab', 32) }])
      expect(ask(kind, { messages, executionHeld: held }, { ...request, ...change })).toBe(false)
    expect(ask(kind, sampleResponses.deposits, { ...request, chainId: 'base' })).toBe(false)
  })

  test('have one action and one origin each, under the key of their transaction', () => {
    expect(executing({})).toBe(true)
    expect(executing({ actions: [...execution.actions, ...execution.actions] })).toBe(false)
    expect(executing({ metadata: [metadata, metadata] })).toBe(false)
    expect(executing({ metadata: [] })).toBe(false)
    expect(executing({ idempotencyKey: repeated('ee', 32) })).toBe(false)
    expect(executing({ metadata: [{ ...metadata, hubTokenId: '1' }] })).toBe(false)
    for (const change of [{ chainId: 'base' }, { family: 'solana-vm' }, { address: repeated('01', 20) }])
      expect(executing({ metadata: [{ ...metadata, origin: { ...metadata.origin, ...change } }] })).toBe(
        false,
      )
    const tx = { ...message, data: { ...message.data, transactionId: repeated('ab', 32) } }
    expect(isAbout({ messages: [message, tx], execution })).toBe(false)
  })

  test('mint what their messages say, to the order, or to the depositor where they name none', () => {
    const { depositor, currency, amount } = message.result
    const token = hubTokenId(chain, currency)
    const toDepositor = encodeMintAction({
      hubTo: hubAlias(chain, depositor),
      hubTokenId: token,
      amount: BigInt(amount),
    })
    expect(executing({ actions: [toDepositor] })).toBe(false)
    const plain = { ...message, result: { ...message.result, depositId: `0x${'0'.repeat(64)}` } }
    const both = { messages: [plain], execution: { ...execution, actions: [toDepositor] } }
    expect(isAbout(both)).toBe(true)
    expect(isAbout({ messages: [plain], execution })).toBe(false)
    const later = { ...message, extraData: { timestamp: '1700000001' } }
    expect(isAbout({ messages: [later], execution })).toBe(false)
    const other = { ...message, result: { ...message.result, amount: '1' } }
    expect(isAbout({ messages: [other], execution })).toBe(false)
    expect(execution.idempotencyKey).toBe(depositsExecutionKey(request))
  })
})

test('P-91: a withdrawal is of the chain, bytes and address request that were asked for', () => {
  const kind = attestationKinds.withdrawals
  const { message } = sampleResponses.withdrawals
  const addressRequest = {
    chainId: 'ethereum',
    currency: repeated('00', 20),
    recipient: repeated('22', 20),
    withdrawer: repeated('11', 20),
    withdrawerChainId: 'ethereum',
    withdrawalNonce: '42',
  }
  const data = { ...message.data, withdrawalAddressRequest: addressRequest }
  const response = { message: { ...message, data } }
  expect(ask(kind, response, data)).toBe(true)
  expect(
    ask(
      kind,
      { message },
      { ...message.data, withdrawal: message.data.withdrawal.toUpperCase().replace('0X', '0x') },
    ),
  ).toBe(true)
  expect(ask(kind, response, { ...data, chainId: 'base' })).toBe(false)
  expect(ask(kind, response, message.data)).toBe(false)
  expect(ask(kind, { message }, data)).toBe(false)
  expect(
    ask(kind, response, { ...data, withdrawalAddressRequest: { ...addressRequest, withdrawalNonce: '43' } }),
  ).toBe(false)
  const v2 = attestationKinds['withdrawals-v2']
  expect(ask(v2, { status: 0 }, {})).toBe(true)
})

describe('P-91: an initiation', () => {
  const kind = attestationKinds['withdrawal-initiation']
  const [owner, recipient, currency] = [repeated('11', 20), repeated('22', 20), repeated('00', 20)]
  const depository = repeated('33', 20)
  const hubFrom = hubAlias(chain, owner)
  const hubTo = withdrawalAddress(chain, { depository, currency, recipient, ownerAlias: hubFrom, nonce: 42n })
  const action = encodeTransferAction({ hubFrom, hubTo, hubTokenId: hubTokenId(chain, currency), amount: 5n })
  const { execution } = sampleResponses['withdrawal-initiation']
  const request = {
    chainId: 'ethereum',
    ownerChainId: 'ethereum',
    owner,
    recipient,
    currency,
    amount: '5',
    nonce: '42',
    depository,
  }
  const answer = { withdrawalAddress: hubTo, execution: { ...execution, actions: [action] } }

  test('moves what was asked for to the address of the request, once', () => {
    expect(ask(kind, answer, request)).toBe(true)
    expect(ask(kind, { ...answer, execution: { ...execution, actions: [action, action] } }, request)).toBe(
      false,
    )
    expect(ask(kind, answer, { ...request, nonce: '43' })).toBe(false)
    expect(ask(kind, answer, { ...request, depository: undefined, nonce: '43' })).toBe(true)
    expect(ask(kind, answer, { ...request, ownerChainId: 'solana' })).toBe(false)
  })

  test('that is held names its address, and nothing else is an answer', () => {
    expect(ask(kind, { withdrawalAddress: hubTo, executionHeld: held }, request)).toBe(true)
    expect(ask(kind, { withdrawalAddress: hubFrom, executionHeld: held }, request)).toBe(false)
    expect(ask(kind, { withdrawalAddress: hubTo }, request)).toBe(false)
    const wrong = { ...execution, actions: [`${action.slice(0, -1)}6`] }
    expect(ask(kind, { withdrawalAddress: hubTo, execution: wrong, executionHeld: held }, request)).toBe(
      false,
    )
  })
})

test('a failure that is no malformed value is told as it is', () => {
  const kind = attestationKinds.deposits
  const broken = () => {
    throw new Error('broken')
  }
  const response = kind.responseSchema.parse(sampleResponses.deposits)
  expect(() => kind.isAbout(response, sampleResponses.deposits.messages[0].data, broken)).toThrow('broken')
})
