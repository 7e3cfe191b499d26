import type { Hex } from '@causeway/core'
import { AbiWords, fixedHexToBytes, hexToBytes, keccak256, viemLibrary } from '@causeway/core'
import type { PermitRouter, PermitTerms, SignedDeposit } from '../../rules/permitTerms.ts'
import { create2Address } from './contractAddress.ts'
import { contractInterface } from './contractInterface.ts'
import { encodePermit2Deposit, permit2TypedData } from './permit2.ts'

/** Kinds of permits that a token itself accepts. */
export const tokenPermitKinds = ['eip3009', 'eip2612'] as const
export type TokenPermitKind = (typeof tokenPermitKinds)[number]

/** All kinds of signatures by which others may submit a user's deposit. */
export const permitKinds = [...tokenPermitKinds, 'permit2'] as const
export type PermitKind = (typeof permitKinds)[number]

/** A value of EIP-712 data: integers as decimal text, times as numbers. */
export type TypedValue =
  | string
  | number
  | boolean
  | readonly TypedValue[]
  | { readonly [member: string]: TypedValue }

/** EIP-712 data as wallets are given it. `EIP712Domain` is not listed: signers derive it. */
export type PermitTypedData = {
  readonly domain: {
    readonly name: string
    readonly version?: string
    readonly chainId: number
    readonly verifyingContract: Hex
  }
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly primaryType: 'ReceiveWithAuthorization' | 'Permit' | 'PermitBatchWitnessTransferFrom'
  readonly value: Readonly<Record<string, TypedValue>>
}

const receiveFields = fieldsOf([
  ['from', 'address'],
  ['to', 'address'],
  ['value', 'uint256'],
  ['validAfter', 'uint256'],
  ['validBefore', 'uint256'],
  ['nonce', 'bytes32'],
])
const permitFields = fieldsOf([
  ['owner', 'address'],
  ['spender', 'address'],
  ['value', 'uint256'],
  ['nonce', 'uint256'],
  ['deadline', 'uint256'],
])

/**
 * Typed data that the owner signs. Each signature serves one deposit of one order. In EIP-3009 the nonce is the order
 * id and the payee the router; in EIP-2612 the spender is a contract address that is derived from this deposit.
 * @source EIP-3009; EIP-2612; rule Q-191
 */
export function permitTypedData(terms: PermitTerms): PermitTypedData {
  if (terms.kind === 'permit2') return permit2TypedData(terms)
  const domain = { ...terms.domain, verifyingContract: terms.token }
  const value = terms.amount.toString()
  if (terms.kind === 'eip3009') {
    return {
      domain,
      types: { ReceiveWithAuthorization: receiveFields },
      primaryType: 'ReceiveWithAuthorization',
      value: {
        from: terms.owner,
        to: terms.router.contract,
        value,
        validAfter: 0,
        validBefore: terms.deadlineSeconds,
        nonce: terms.orderId,
      },
    }
  }
  return {
    domain,
    types: { Permit: permitFields },
    primaryType: 'Permit',
    value: {
      owner: terms.owner,
      spender: permitSpender(terms, terms.router),
      value,
      nonce: terms.nonce.toString(),
      deadline: terms.deadlineSeconds,
    },
  }
}

/** The 32 bytes that a signature of `permitTypedData` signs. @throws RangeError on a member that does not fit */
export function permitDigest(terms: PermitTerms): Uint8Array {
  const { domain, types, primaryType, value } = permitTypedData(terms)
  const { BaseError, hashTypedData } = viemLibrary()
  try {
    return hexToBytes(hashTypedData({ domain, types, primaryType, message: value }))
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    throw new RangeError(`${primaryType}: ${error.shortMessage}`, { cause: error })
  }
}

/** Spender of an EIP-2612 permit, in lower case: a CREATE2 address at which the router runs code for this deposit only. */
export function permitSpender(deposit: SignedDeposit, { contract, depositCodeHash }: PermitRouter): Hex {
  const salt = keccak256(depositWords(deposit).done())
  return create2Address(contract, salt, depositCodeHash)
}

const depositRouter = contractInterface([
  'struct Deposit { address token; address owner; uint256 amount; uint256 deadline; bytes32 id; }',
  'function depositWithAuthorization(Deposit deposit, bytes signature)',
  'function depositWithPermit(Deposit deposit, bytes signature)',
])
const depositFunctions = { eip3009: 'depositWithAuthorization', eip2612: 'depositWithPermit' } as const

/** Calldata of the router that turns a token's permit into the deposit. */
export function encodeSignedDeposit(kind: TokenPermitKind, deposit: SignedDeposit, signature: Hex): Hex {
  const { token, owner, amount, deadlineSeconds, orderId: id } = deposit
  const terms = { token, owner, amount, deadline: BigInt(deadlineSeconds), id }
  return depositRouter.encode(depositFunctions[kind], [terms, signature])
}

/** The transaction that makes the deposit by a signature of these terms; `from` is set if only that account may send it. */
export function encodePermit(
  terms: PermitTerms,
  signature: Hex,
): { readonly to: Hex; readonly data: Hex; readonly from: Hex | undefined } {
  if (terms.kind === 'permit2') {
    return { to: terms.router, data: encodePermit2Deposit(terms, signature), from: terms.relayer }
  }
  const data = encodeSignedDeposit(terms.kind, terms, signature)
  return { to: terms.router.contract, data, from: undefined }
}

function depositWords(deposit: SignedDeposit): AbiWords {
  return new AbiWords(5)
    .address(fixedHexToBytes(deposit.token, 20))
    .address(fixedHexToBytes(deposit.owner, 20))
    .uint(deposit.amount)
    .number(deposit.deadlineSeconds)
    .word(fixedHexToBytes(deposit.orderId, 32))
}

function fieldsOf(fields: readonly (readonly [name: string, type: string])[]) {
  return fields.map(([name, type]) => ({ name, type }))
}
