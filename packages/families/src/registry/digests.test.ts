// Vectors of the public protocol: digests, and the deterministic signatures over them.

import type { Hex, SigningRequest } from '@causeway/core'
import { bytesToHex } from '@causeway/core'
import fc from 'fast-check'
import {
  concatHex,
  hashMessage,
  hashTypedData,
  keccak256,
  parseSignature,
  serializeTransaction,
  toHex,
  toRlp,
} from 'viem'
import { privateKeyToAccount, privateKeyToAddress, sign } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import {
  allocatorDomain,
  depositExecution,
  ethereumDepositId,
  fillExecution,
  hubDomain,
  oracleKey,
  withdrawRequest,
} from '../../../core/test/vectors/messages.ts'
import { orderBId, orderBSignature, orderBSolverKey, repeated } from '../../../core/test/vectors/orders.ts'
import { encodeEvmWithdrawal } from '../ethereum/rules/withdrawal.ts'
import { payloadHashes } from './allocatorPayload.ts'
import { executionHash, executionSeparator, signingDigest } from './digests.ts'

function digestOf(request: SigningRequest): Hex {
  return bytesToHex(signingDigest(request))
}

test('the keys of the vectors have their published addresses', () => {
  expect(privateKeyToAddress(oracleKey)).toBe('0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A')
  expect(privateKeyToAddress(orderBSolverKey)).toBe('0x2e988A386a799F506693793c6A5AF6B54dfAaBfB')
})

describe('signatures over our digests are the published ones', () => {
  const v1 = { ...hubDomain, version: '1' }
  test.each<[string, Hex, SigningRequest, Hex]>([
    ['order B', orderBSolverKey, { purpose: 'order', orderId: orderBId }, orderBSignature],
    [
      'the deposit message',
      oracleKey,
      { purpose: 'message', messageId: ethereumDepositId },
      '0x2e639563ee00d7284978658449a3be56e95ab1622347b2ea19f959eddd6452463d957f72ecbd75a4b212ba6912050711eff0fb86650cd2806bc307df3e877c3b1c',
    ],
    [
      'the deposit execution',
      oracleKey,
      { purpose: 'execution', domain: hubDomain, execution: depositExecution },
      '0xb040c92bb3ee60df2323f77c484268e3d07bea489c6e9cdee0a0281f9a631b6462b695604c8a6cc381a82a3d282369de1d17460edc4fae314cc5e713659fa8c41b',
    ],
    [
      'the fill execution',
      oracleKey,
      { purpose: 'execution', domain: hubDomain, execution: fillExecution },
      '0x2a3f855baeb34695af4623fc5395e368cf62bbe76c64d67b72a1db3c6b3455366dca500239a9a385e098099b46da4aba9ebb005c680f9d17b0d4f4352d7b96d81b',
    ],
    [
      'the withdraw request',
      oracleKey,
      { purpose: 'withdraw-request', domain: allocatorDomain, request: withdrawRequest },
      '0x8da11aa7f17d730fbcb71b4b79fb76d9a782fa66fa44a1bdfbfa2b9b5e53d6ff7fb842b9e357afbb31a9a1370e147e7c3803c874f631f7f82adaf36068096c3c1b',
    ],
  ])('of %s', async (_what, privateKey, request, signature) => {
    expect(await sign({ hash: digestOf(request), privateKey, to: 'hex' })).toBe(signature)
  })

  test.each<[string, SigningRequest, Hex]>([
    [
      'the deposit execution, version 2',
      { purpose: 'execution', domain: hubDomain, execution: depositExecution },
      '0x6a0caa59240256cc2f4b223765795761f81feab29c8262d367bf27127b926335',
    ],
    [
      'the deposit execution, version 1',
      { purpose: 'execution', domain: v1, execution: depositExecution },
      '0x180ba6c1149a334b220b2c0c4b603a331dcd37a2d0fe27cb04fe6bb406f3504c',
    ],
    [
      'the fill execution, version 2',
      { purpose: 'execution', domain: hubDomain, execution: fillExecution },
      '0x27349aa51ffc11b8df73101b7725470e80151b2c5f67a5de1f85d4213462c7c8',
    ],
    [
      'the fill execution, version 1',
      { purpose: 'execution', domain: v1, execution: fillExecution },
      '0xd67004ac8430e70ff3531a40550666cf2a71c8f3726a46d0e26f20da1aea0a43',
    ],
    [
      'the withdraw request',
      { purpose: 'withdraw-request', domain: allocatorDomain, request: withdrawRequest },
      '0xe8759c8f50252a8128cf157992509cfd7d18ff8c8a06322cc28bf83fcdcf2507',
    ],
  ])('the digest of %s is the published one', (_what, request, digest) => {
    expect(digestOf(request)).toBe(digest)
  })
})

test('P-128: separator and struct hashes of executions are the published ones', () => {
  expect(bytesToHex(executionSeparator(hubDomain))).toBe(
    '0xf91ef33124fc43f413354da3fff82ba3e4e078b51414efd397e632d46da4743d',
  )
  expect(bytesToHex(executionHash(depositExecution))).toBe(
    '0x89b45258b765bfe4fc21bd0c0428c11c474a7c5ea70ed285c1e5b44f304be2f9',
  )
  expect(bytesToHex(executionHash(fillExecution))).toBe(
    '0x54faded0640e96986c234747c745428057a1ebcdb5583f1693ffe52abde0970a',
  )
})

describe('digests equal viem', () => {
  const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): Hex => toHex(bytes))
  const account = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes): Hex => toHex(bytes))
  const bytes = fc.uint8Array({ maxLength: 200 }).map((data): Hex => toHex(data))
  const chainIds = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
  const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
  const text = fc.string({ unit: 'grapheme', maxLength: 80 })

  test('for order and message ids', () => {
    fc.assert(
      fc.property(word, (id) => {
        const expected = hashMessage({ raw: id })
        expect(digestOf({ purpose: 'order', orderId: id })).toBe(expected)
        expect(digestOf({ purpose: 'message', messageId: id })).toBe(expected)
      }),
    )
  })

  test('for executions', () => {
    // viem leaves an empty version out of the domain's type; a hub file cannot have one.
    const version = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
    const types = {
      Execution: [
        { name: 'idempotencyKey', type: 'bytes32' },
        { name: 'actions', type: 'bytes[]' },
      ],
    } as const
    fc.assert(
      fc.property(
        fc.tuple(word, fc.array(bytes, { maxLength: 4 }), chainIds, account, version),
        ([idempotencyKey, actions, chainId, verifyingContract, domainVersion]) => {
          const execution = { idempotencyKey, actions }
          const domain = { chainId, verifyingContract, version: domainVersion }
          expect(digestOf({ purpose: 'execution', domain, execution })).toBe(
            hashTypedData({
              domain: { name: 'RelayOracle', ...domain },
              types,
              primaryType: 'Execution',
              message: execution,
            }),
          )
        },
      ),
    )
  })

  test('for withdraw requests', () => {
    const types = {
      SubmitWithdrawRequest: [
        { name: 'chainId', type: 'uint256' },
        { name: 'depository', type: 'string' },
        { name: 'currency', type: 'string' },
        { name: 'amount', type: 'uint256' },
        { name: 'spender', type: 'address' },
        { name: 'receiver', type: 'string' },
        { name: 'data', type: 'bytes' },
        { name: 'nonce', type: 'bytes32' },
      ],
    } as const
    fc.assert(
      fc.property(
        fc.tuple(chainIds, account, account, uint256, uint256, text, text, text, bytes, word),
        ([
          chainId,
          verifyingContract,
          spender,
          amount,
          requestChainId,
          depository,
          currency,
          recipient,
          data,
          nonce,
        ]) => {
          const domain = { chainId, verifyingContract }
          const members = { chainId: requestChainId, depository, currency, amount, spender, data, nonce }
          expect(digestOf({ purpose: 'withdraw-request', domain, request: { ...members, recipient } })).toBe(
            hashTypedData({
              domain: { name: 'RelayAllocatorSpender', version: '1', ...domain },
              types,
              primaryType: 'SubmitWithdrawRequest',
              message: { ...members, receiver: recipient },
            }),
          )
        },
      ),
    )
  })
})

test.each<[string, SigningRequest]>([
  ['an order id of 31 bytes', { purpose: 'order', orderId: repeated('11', 31) }],
  ['a message id of 33 bytes', { purpose: 'message', messageId: repeated('11', 33) }],
  [
    'a key of 31 bytes',
    {
      purpose: 'execution',
      domain: hubDomain,
      execution: { ...depositExecution, idempotencyKey: repeated('11', 31) },
    },
  ],
  [
    'a contract of 21 bytes',
    {
      purpose: 'execution',
      domain: { ...hubDomain, verifyingContract: repeated('11', 21) },
      execution: depositExecution,
    },
  ],
  [
    'a negative amount',
    { purpose: 'withdraw-request', domain: allocatorDomain, request: { ...withdrawRequest, amount: -1n } },
  ],
  ['a transaction of another type', { purpose: 'transaction', unsigned: '0x01c0' }],
  ['two bytes that begin no list', { purpose: 'transaction', unsigned: '0x0201' }],
  ['no bytes', { purpose: 'transaction', unsigned: '0x' }],
])('nothing is signed for %s', (_what, request) => {
  expect(() => signingDigest(request)).toThrow(RangeError)
})

describe('what an allocator signs', () => {
  const payload = encodeEvmWithdrawal({
    calls: [{ to: `0x${'22'.repeat(20)}`, value: 5n, data: '0x', allowFailure: false }],
    nonce: 42n,
    expiration: 1_800_000_000n,
  })
  const place = { hubChainId: 8453n, depository: `0x${'0d'.repeat(20)}` }
  const signing = (index: number) => ({
    purpose: 'payload' as const,
    vmType: 'ethereum-vm' as const,
    payload,
    payer: place,
    index,
  })

  test('of a payload is the hash that its bytes and place make', () => {
    expect(digestOf(signing(0))).toBe(payloadHashes('ethereum-vm', payload, place)[0])
    const elsewhere = { ...place, hubChainId: 10n }
    expect(digestOf({ ...signing(0), payer: elsewhere })).not.toBe(digestOf(signing(0)))
    expect(() => digestOf(signing(1))).toThrow(RangeError)
  })

  test('of a transaction is the hash of an EIP-1559 or EIP-7702 one, and of nothing else', () => {
    const transaction = { type: 'eip1559', chainId: 1, nonce: 7, gas: 21_000n, maxFeePerGas: 5n } as const
    const unsigned = serializeTransaction(transaction)
    expect(digestOf({ purpose: 'transaction', unsigned })).toBe(keccak256(unsigned))
    const delegating = serializeTransaction({ ...transaction, type: 'eip7702', authorizationList: [] })
    expect(digestOf({ purpose: 'transaction', unsigned: delegating })).toBe(keccak256(delegating))
    // Whoever had this signed would own the account: it is no transaction.
    const authorization = concatHex(['0x05', toRlp([toHex(1), repeated('66', 20), '0x'])])
    const blobs: Hex = `0x03${unsigned.slice(4)}`
    const typedData: Hex = `0x1901${'ab'.repeat(64)}`
    const legacy = serializeTransaction({ type: 'legacy', chainId: 1, nonce: 7, gas: 21_000n })
    for (const other of [
      typedData,
      legacy,
      authorization,
      blobs,
      '0x',
      '0x02',
      '0x0219',
      '0x0419',
    ] as const) {
      expect(() => digestOf({ purpose: 'transaction', unsigned: other })).toThrow(RangeError)
    }
  })
})

test('an unsigned transaction is signed as another library does', async () => {
  const account = privateKeyToAccount(repeated('46', 32))
  const transaction = { type: 'eip1559', chainId: 10, nonce: 1, to: account.address, gas: 21_000n } as const
  const fees = { maxFeePerGas: 7n, maxPriorityFeePerGas: 1n, value: 5n, data: '0x12' } as const
  const unsigned = serializeTransaction({ ...transaction, ...fees })
  const signature = await account.sign({ hash: digestOf({ purpose: 'transaction', unsigned }) })
  const raw = serializeTransaction({ ...transaction, ...fees }, parseSignature(signature))
  expect(raw).toBe(await account.signTransaction({ ...transaction, ...fees }))
})
