import type { Hex } from '@causeway/core'
import { concatHex, type PublicClient, size, type TestClient, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { caliburAddress } from '../contracts/signBatch.ts'
import type { WalletKind } from './walletKind.ts'

/** `isListed`: by the list that a token keeps. */
export type EvmWallet = WalletKind & { readonly code?: Hex; readonly isListed?: true }

const received = '3d0ce9bfc3ed7d6862dbb28b2dea94561fe714a1b4d019aa8af39730d1ad7c3d'
const behind = '5a'.repeat(20)

/** Writes `SafeReceived(address indexed sender, uint256 value)`, as the code behind each Safe does. */
export const safeCode: { readonly address: Hex; readonly bytecode: Hex } = {
  address: `0x${behind}`,
  bytecode: `0x345f52337f${received}60205fa200`,
}
/** Takes coin as a Safe does, by the code that lies at another address. @source ERC-7511 */
export const safeProxy: Hex = `0x365f5f375f5f365f73${behind}5af43d5f5f3e5f3d91602a57fd5bf3`

/** Accounts by the name that `npm run localnet -- wallet` takes. A counterfactual one (ERC-6492) is plain until it is made. */
export const evmWallets = {
  plain: {},
  delegated: { code: concatHex(['0xef0100', caliburAddress]) },
  safe: { code: safeProxy },
  contract: { code: '0x00' },
  forwarder: { code: `0x5f5f5f5f4773${'e1'.repeat(20)}5af100` },
  'without-receive': { code: '0x5f5ffd', cannotBePaid: ['coin'] },
  /** Burns 25 million gas. */
  costly: { code: '0x620f42405b600190038060045700', cannotBePaid: ['coin'] },
  /** Refuses a trial that has no price of gas. */
  'wants-price': { code: '0x3a6007575f5ffd5b00' },
  'refuses-price': { code: '0x3a600557005b5f5ffd', cannotBePaid: ['coin'] },
  blocked: { isListed: true, cannotBePaid: ['token'], cannotPay: ['token'] },
} as const satisfies Readonly<Record<string, EvmWallet>>

export type EvmWalletName = keyof typeof evmWallets

export const isEvmWalletName = (name: string): name is EvmWalletName => Object.hasOwn(evmWallets, name)

export type ListingChain = {
  readonly node: Pick<TestClient, 'setCode'>
  readonly client: Pick<PublicClient, 'getCode'>
}

/**
 * Makes such an account at an address.
 * @param token whose list blocks it, if it is blocked
 * @param account default: one that nobody had
 */
export async function placeEvmWallet(
  chain: ListingChain,
  name: EvmWalletName,
  token: Hex,
  account: Hex = privateKeyToAddress(generatePrivateKey()),
): Promise<Hex> {
  const { code, isListed }: EvmWallet = evmWallets[name]
  if (name === 'safe') await chain.node.setCode(safeCode)
  if (isListed === true) await refuseWhere(chain, token, isAbout(account))
  if (code !== undefined) await chain.node.setCode({ address: account, bytecode: code })
  return account
}

/** Pushes whether the account is the second word of a call, the first of a `transferFrom`, or whoever makes a `transfer`. */
const isAbout = (account: Hex): Hex =>
  concatHex([
    ...['0x73', account, '0x8060243514'],
    ...['0x8160043514', '0x3660641416', '0x17'],
    ...['0x903314', '0x5f3560e01c63a9059cbb14', '0x1617'],
  ] as const)

/**
 * The token reverts where a condition is true of a call, and does as before otherwise.
 * @param condition code that pushes one word, fewer than 200 bytes
 */
export async function refuseWhere({ node, client }: ListingChain, token: Hex, condition: Hex): Promise<void> {
  const behind = privateKeyToAddress(generatePrivateKey())
  await node.setCode({ address: behind, bytecode: (await client.getCode({ address: token })) ?? '0x' })
  const place = (bytes: number) => toHex(size(condition) + bytes, { size: 1 })
  const check = concatHex([condition, '0x60', place(48), '0x57'])
  const handOn = concatHex(['0x365f5f375f5f365f73', behind, '0x5af43d5f5f3e60', place(44), '0x573d5ffd'])
  const bytecode = concatHex([check, handOn, '0x5b3d5ff3', '0x5b5f5ffd'])
  await node.setCode({ address: token, bytecode })
}
