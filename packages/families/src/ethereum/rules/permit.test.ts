// Goal: what an owner signs is what the contracts check, and the transaction that uses it makes this one deposit.
// Attacks: a signature that serves another deposit, token, order or sender. The typed data of the standards are written
// out here once more.

import {
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { describe, expect, test } from 'vitest'
import type { Permit2Terms, TokenPermitTerms } from '../../rules/permitTerms.ts'
import { encodePermit, encodeSignedDeposit, permitDigest, permitSpender, permitTypedData } from './permit.ts'

const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const orderId: Hex = `0x${'0a'.repeat(32)}`
const router = { contract: account('5'), depositCodeHash: `0x${'c0'.repeat(32)}` } as const
const deposit = {
  token: account('3'),
  owner: account('1'),
  amount: 100n,
  deadlineSeconds: 1_800_000_000,
  orderId,
}
const domain = { name: 'USD Coin', version: '2', chainId: 10 }
const eip3009: TokenPermitTerms = { kind: 'eip3009', ...deposit, domain, router }
const eip2612: TokenPermitTerms = { kind: 'eip2612', ...deposit, domain, router, nonce: 7n }
const permit2: Permit2Terms = {
  kind: 'permit2',
  ...deposit,
  chainId: 10,
  router: account('6'),
  relayer: account('8'),
  calls: [
    { to: account('3'), data: '0xabcd', value: 0n },
    { to: account('4'), data: '0x', value: 9n },
  ],
}
const signature: Hex = `0x${'5e'.repeat(65)}`

/** The contract at which the router runs code for one deposit. @source PermitRouter.sol */
const spender = getContractAddress({
  opcode: 'CREATE2',
  from: router.contract,
  salt: keccak256(
    encodeAbiParameters(parseAbiParameters('address, address, uint256, uint256, bytes32'), [
      deposit.token,
      deposit.owner,
      deposit.amount,
      BigInt(deposit.deadlineSeconds),
      orderId,
    ]),
  ),
  bytecodeHash: router.depositCodeHash,
}).toLowerCase()

const fields = (text: string) =>
  text.split(', ').map((field) => {
    const [type = '', name = ''] = field.split(' ')
    return { name, type }
  })

describe('the digest that the owner signs', () => {
  const verifying = { ...domain, verifyingContract: deposit.token }

  test('of EIP-3009 pays the router, once for the order', () => {
    const expected = hashTypedData({
      domain: verifying,
      types: {
        ReceiveWithAuthorization: fields(
          'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce',
        ),
      },
      primaryType: 'ReceiveWithAuthorization',
      message: {
        from: deposit.owner,
        to: router.contract,
        value: 100n,
        validAfter: 0n,
        validBefore: 1_800_000_000n,
        nonce: orderId,
      },
    })
    expect(hexOf(permitDigest(eip3009))).toBe(expected)
  })

  test('of EIP-2612 allows a contract that serves this deposit alone', () => {
    const expected = hashTypedData({
      domain: verifying,
      types: {
        Permit: fields('address owner, address spender, uint256 value, uint256 nonce, uint256 deadline'),
      },
      primaryType: 'Permit',
      message: { owner: deposit.owner, spender, value: 100n, nonce: 7n, deadline: 1_800_000_000n },
    })
    expect(hexOf(permitDigest(eip2612))).toBe(expected)
  })

  test('of Permit2 covers the relayer and each call, none of which may fail', () => {
    const expected = hashTypedData({
      domain: {
        name: 'Permit2',
        chainId: 10,
        verifyingContract: '0x000000000022d473030f116ddee9f6b43ac78ba3',
      },
      types: {
        PermitBatchWitnessTransferFrom: fields(
          'TokenPermissions[] permitted, address spender, uint256 nonce, uint256 deadline, RelayerWitness witness',
        ),
        TokenPermissions: fields('address token, uint256 amount'),
        RelayerWitness: fields(
          'address relayer, address refundTo, address nftRecipient, bytes metadata, Call3Value[] call3Values',
        ),
        Call3Value: fields('address target, bool allowFailure, uint256 value, bytes callData'),
      },
      primaryType: 'PermitBatchWitnessTransferFrom',
      message: {
        permitted: [{ token: deposit.token, amount: 100n }],
        spender: permit2.router,
        nonce: BigInt(orderId),
        deadline: 1_800_000_000n,
        witness: {
          relayer: permit2.relayer,
          refundTo: deposit.owner,
          nftRecipient: deposit.owner,
          metadata: orderId,
          call3Values: permit2.calls.map(({ to, data, value }) => ({
            target: to,
            allowFailure: false,
            value,
            callData: data,
          })),
        },
      },
    })
    expect(hexOf(permitDigest(permit2))).toBe(expected)
  })

  test('is of no terms that do not fit their types', () => {
    expect(() => permitDigest({ ...eip2612, nonce: -1n })).toThrow(RangeError)
    expect(() => permitDigest({ ...permit2, relayer: '0x12' })).toThrow(/^PermitBatchWitnessTransferFrom: /)
  })
})

describe('amounts and nonces are decimal text for wallets, and times are numbers', () => {
  test.each([
    ['EIP-3009', eip3009, { value: '100', validAfter: 0, validBefore: 1_800_000_000 }],
    ['EIP-2612', eip2612, { value: '100', nonce: '7', deadline: 1_800_000_000, spender }],
    ['Permit2', permit2, { nonce: BigInt(orderId).toString(), deadline: 1_800_000_000 }],
  ] as const)('%s', (_kind, terms, value) => {
    expect(permitTypedData(terms).value).toMatchObject(value)
  })
})

test.each([
  ['token', { token: account('9') }],
  ['owner', { owner: account('9') }],
  ['amount', { amount: 101n }],
  ['deadline', { deadlineSeconds: 1_800_000_001 }],
  ['order', { orderId: `0x${'0b'.repeat(32)}` as const }],
])('a deposit of another %s has another spender', (_what, change) => {
  expect(permitSpender(deposit, router)).toBe(spender)
  expect(permitSpender({ ...deposit, ...change }, router)).not.toBe(spender)
})

describe('the transaction that uses the signature', () => {
  const abi = parseAbi([
    'struct Deposit { address token; address owner; uint256 amount; uint256 deadline; bytes32 id; }',
    'function depositWithAuthorization(Deposit deposit, bytes signature)',
    'function depositWithPermit(Deposit deposit, bytes signature)',
    'struct TokenPermissions { address token; uint256 amount; }',
    'struct PermitBatchTransferFrom { TokenPermissions[] permitted; uint256 nonce; uint256 deadline; }',
    'struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }',
    'function permit2TransferAndMulticall(address user, PermitBatchTransferFrom permit, Call3Value[] calls, address refundTo, address nftRecipient, bytes metadata, bytes signature)',
  ])

  test.each([
    ['depositWithAuthorization', eip3009],
    ['depositWithPermit', eip2612],
  ] as const)('is %s of the router, which anybody may send', (functionName, terms) => {
    const { token, owner, amount } = deposit
    const struct = { token, owner, amount, deadline: 1_800_000_000n, id: orderId }
    const data = encodeFunctionData({ abi, functionName, args: [struct, signature] })
    expect(encodePermit(terms, signature)).toEqual({ to: router.contract, data, from: undefined })
    expect(encodeSignedDeposit(terms.kind, deposit, signature)).toBe(data)
  })

  test('of Permit2 is sent by its relayer alone, and leaves what is over to the owner', () => {
    const data = encodeFunctionData({
      abi,
      functionName: 'permit2TransferAndMulticall',
      args: [
        deposit.owner,
        {
          permitted: [{ token: deposit.token, amount: 100n }],
          nonce: BigInt(orderId),
          deadline: 1_800_000_000n,
        },
        permit2.calls.map(({ to, data, value }) => ({
          target: to,
          allowFailure: false,
          value,
          callData: data,
        })),
        deposit.owner,
        deposit.owner,
        orderId,
        signature,
      ],
    })
    expect(encodePermit(permit2, signature)).toEqual({ to: permit2.router, data, from: permit2.relayer })
  })
})

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
