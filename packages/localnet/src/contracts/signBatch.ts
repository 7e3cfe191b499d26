import type { Hex } from '@causeway/core'
import { encodeAbiParameters, encodeFunctionData, pad, parseAbi, zeroAddress, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** Code that clients of EIP-7702 delegate to. @source github.com/Uniswap/calibur 1.0.0 */
export const caliburAddress: Hex = '0x000000009b1d0af20d8c6d0a44e162d11f9b8f00'

/** The part of Calibur's ABI that batches use. */
export const caliburAbi = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'struct BatchedCall { Call[] calls; bool revertOnFailure; }',
  'struct SignedBatchedCall { BatchedCall batchedCall; uint256 nonce; bytes32 keyHash; address executor; uint256 deadline; }',
  'function execute(SignedBatchedCall signed, bytes wrappedSignature) payable',
  'function getSeq(uint256 key) view returns (uint256)',
])

export type BatchedCall = { readonly to: Hex; readonly value: bigint; readonly data: Hex }

/** Signed terms of a batch beside its calls; absent ones are zero. */
export type BatchTerms = {
  readonly chainId: number
  readonly nonce?: bigint
  /** Names the key that signs; zero: the account's own. */
  readonly keyHash?: Hex
  /** The only sender that may run the batch; zero: anybody. */
  readonly executor?: Hex
  /** Unix seconds; 0: never too late. */
  readonly deadline?: bigint
}

export type SignedBatch = { readonly to: Hex; readonly data: Hex }

/** The typed data that clients of Calibur sign. @source github.com/Uniswap/calibur 1.0.0 */
const types = {
  SignedBatchedCall: [
    { name: 'batchedCall', type: 'BatchedCall' },
    { name: 'nonce', type: 'uint256' },
    { name: 'keyHash', type: 'bytes32' },
    { name: 'executor', type: 'address' },
    { name: 'deadline', type: 'uint256' },
  ],
  BatchedCall: [
    { name: 'calls', type: 'Call[]' },
    { name: 'revertOnFailure', type: 'bool' },
  ],
  Call: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
  ],
} as const

/**
 * Signs calls of an account that has Calibur's code, or gets it with the same transaction.
 * @returns the call to the account that runs the batch
 */
export async function signBatch(
  privateKey: Hex,
  calls: readonly BatchedCall[],
  { chainId, nonce = 0n, keyHash = zeroHash, executor = zeroAddress, deadline = 0n }: BatchTerms,
): Promise<SignedBatch> {
  const account = privateKeyToAccount(privateKey)
  const message = { batchedCall: { calls, revertOnFailure: true }, nonce, keyHash, executor, deadline }
  const signature = await account.signTypedData({
    domain: {
      name: 'Calibur',
      version: '1.0.0',
      chainId,
      verifyingContract: account.address,
      // Calibur's domain names the code that the account delegates to.
      salt: pad(caliburAddress),
    },
    types,
    primaryType: 'SignedBatchedCall',
    message,
  })
  // Calibur takes the signature together with data for a hook, which is empty.
  const wrappedSignature = encodeAbiParameters([{ type: 'bytes' }, { type: 'bytes' }], [signature, '0x'])
  const args = [message, wrappedSignature] as const
  const data = encodeFunctionData({ abi: caliburAbi, functionName: 'execute', args })
  return { to: account.address, data }
}

/** Signs an account's delegation to Calibur, for a transaction that another account sends. @source EIP-7702 */
export async function signDelegation(privateKey: Hex, chainId: number, nonce = 0) {
  const account = privateKeyToAccount(privateKey)
  const authorization = { contractAddress: caliburAddress, chainId, nonce }
  // viem's type also allows a signature with `v` alone; a local account always sets `yParity`.
  const { r, s, yParity } = await account.signAuthorization(authorization)
  return { chainId, address: caliburAddress, nonce, yParity: yParity ?? 0, r, s }
}
