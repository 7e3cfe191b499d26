import type { Hex } from '@causeway/core'
import { concatHex, type PublicClient, size, type TestClient, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { caliburAddress } from '../contracts/signBatch.ts'
import type { WalletKind } from './walletKind.ts'

/** A kind of EVM account. `code`: absent for a plain one. `isListed`: the token's blocklist names the account. */
export type EvmWallet = WalletKind & { readonly code?: Hex; readonly isListed?: true }

/** Topic of `SafeReceived(address,uint256)`. */
const safeReceivedTopic = '3d0ce9bfc3ed7d6862dbb28b2dea94561fe714a1b4d019aa8af39730d1ad7c3d'
const safeImplementation = '5a'.repeat(20)

/** The implementation behind each Safe proxy: it only logs `SafeReceived(address indexed sender, uint256 value)`. */
export const safeCode: { readonly address: Hex; readonly bytecode: Hex } = {
  address: `0x${safeImplementation}`,
  bytecode: `0x345f52337f${safeReceivedTopic}60205fa200`,
}
/** A Safe's proxy: it delegates every call to the implementation. @source ERC-7511 */
export const safeProxy: Hex = `0x365f5f375f5f365f73${safeImplementation}5af43d5f5f3e5f3d91602a57fd5bf3`

/**
 * Kinds of EVM accounts by the name that `npm run localnet -- wallet` takes. A counterfactual account (ERC-6492) is plain
 * until it is deployed.
 */
export const evmWallets = {
  plain: {},
  delegated: { code: concatHex(['0xef0100', caliburAddress]) },
  safe: { code: safeProxy },
  /** Takes any call and does nothing. */
  contract: { code: '0x00' },
  /** Sends the coins that it receives on to another address. */
  forwarder: { code: `0x5f5f5f5f4773${'e1'.repeat(20)}5af100` },
  'without-receive': { code: '0x5f5ffd', cannotBePaid: ['coin'] },
  /** Burns 25 million gas. */
  costly: { code: '0x620f42405b600190038060045700', cannotBePaid: ['coin'] },
  /** Reverts where the gas price is zero, as in a simulation. */
  'wants-price': { code: '0x3a6007575f5ffd5b00' },
  /** Reverts where the gas price is not zero, as in a real transaction. */
  'refuses-price': { code: '0x3a600557005b5f5ffd', cannotBePaid: ['coin'] },
  blocked: { isListed: true, cannotBePaid: ['token'], cannotPay: ['token'] },
} as const satisfies Readonly<Record<string, EvmWallet>>

export type EvmWalletName = keyof typeof evmWallets

export const isEvmWalletName = (name: string): name is EvmWalletName => Object.hasOwn(evmWallets, name)

/** The parts of a chain's clients that place accounts. */
export type ListingChain = {
  readonly node: Pick<TestClient, 'setCode'>
  readonly client: Pick<PublicClient, 'getCode'>
}

/**
 * Makes an account of a kind.
 * @param token whose list blocks the account, if its kind is blocked
 * @param account its address; default: a new one
 */
export async function placeEvmWallet(
  chain: ListingChain,
  name: EvmWalletName,
  token: Hex,
  account: Hex = privateKeyToAddress(generatePrivateKey()),
): Promise<Hex> {
  const { code, isListed }: EvmWallet = evmWallets[name]
  if (name === 'safe') await chain.node.setCode(safeCode)
  if (isListed === true) await refuseWhere(chain, token, concernsAccount(account))
  if (code !== undefined) await chain.node.setCode({ address: account, bytecode: code })
  return account
}

/**
 * EVM code that pushes 1 for a token call which concerns the account: it is the second argument, or the first of
 * `transferFrom`, or the caller of `transfer`.
 */
const concernsAccount = (account: Hex): Hex =>
  concatHex([
    // The account, and whether the second argument is it.
    ...['0x73', account, '0x8060243514'],
    // Or the first argument is it, of a call of 100 bytes, as `transferFrom` is.
    ...['0x8160043514', '0x3660641416', '0x17'],
    // Or the caller is it, with the selector of `transfer`.
    ...['0x903314', '0x5f3560e01c63a9059cbb14', '0x1617'],
  ] as const)

/**
 * Makes a token revert calls for which a condition is true. Its code moves to another address; code in its place checks
 * the condition and delegates all other calls there.
 * @param condition EVM code that pushes one word; shorter than 200 bytes, because jump targets have one byte
 */
export async function refuseWhere({ node, client }: ListingChain, token: Hex, condition: Hex): Promise<void> {
  const implementation = privateKeyToAddress(generatePrivateKey())
  await node.setCode({
    address: implementation,
    bytecode: (await client.getCode({ address: token })) ?? '0x',
  })
  const jumpTarget = (bytes: number) => toHex(size(condition) + bytes, { size: 1 })
  const check = concatHex([condition, '0x60', jumpTarget(48), '0x57'])
  const callImplementation = ['0x365f5f375f5f365f73', implementation, '0x5af43d5f5f3e60'] as const
  const delegate = concatHex([...callImplementation, jumpTarget(44), '0x573d5ffd'])
  // Offset 44 returns the implementation's answer, offset 48 reverts.
  const bytecode = concatHex([check, delegate, '0x5b3d5ff3', '0x5b5f5ffd'])
  await node.setCode({ address: token, bytecode })
}
