import type { Hex } from '@causeway/core'
import { concatHex, type PublicClient, type TestClient } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { caliburAddress } from '../contracts/signBatch.ts'

/** An account as people have them: the code at it, and what it cannot be paid. */
export type EvmWallet = { readonly code?: Hex; readonly refuses?: 'coin' | 'token' }

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
  'without-receive': { code: '0x5f5ffd', refuses: 'coin' },
  /** Burns 25 million gas. */
  costly: { code: '0x620f42405b600190038060045700', refuses: 'coin' },
  /** Refuses a trial that has no price of gas. */
  'wants-price': { code: '0x3a6007575f5ffd5b00' },
  'refuses-price': { code: '0x3a600557005b5f5ffd', refuses: 'coin' },
  /** By the list that a token keeps. */
  blocked: { refuses: 'token' },
} as const satisfies Readonly<Record<string, EvmWallet>>

export type EvmWalletName = keyof typeof evmWallets

export const isEvmWalletName = (name: string): name is EvmWalletName => Object.hasOwn(evmWallets, name)

type Chain = {
  readonly node: Pick<TestClient, 'setCode'>
  readonly client: Pick<PublicClient, 'getCode'>
}

/** Puts such an account at an address that nobody had. @param token whose list blocks it, if it is blocked */
export async function placeEvmWallet({ node, client }: Chain, name: EvmWalletName, token: Hex): Promise<Hex> {
  const account = privateKeyToAddress(generatePrivateKey())
  const { code, refuses }: EvmWallet = evmWallets[name]
  if (name === 'safe') await node.setCode(safeCode)
  if (refuses === 'token') await blockAt({ node, client }, token, account)
  if (code !== undefined) await node.setCode({ address: account, bytecode: code })
  return account
}

/** The token reverts where the second word of a call is the blocked account, and does as before otherwise. */
async function blockAt({ node, client }: Chain, token: Hex, account: Hex): Promise<void> {
  const moved = privateKeyToAddress(generatePrivateKey())
  await node.setCode({ address: moved, bytecode: (await client.getCode({ address: token })) ?? '0x' })
  const list: Hex = `0x73${account.slice(2)}60243514604957`
  const handOn: Hex = `0x365f5f375f5f365f73${moved.slice(2)}5af43d5f5f3e604557`
  await node.setCode({
    address: token,
    bytecode: concatHex([list, handOn, '0x3d5ffd', '0x5b3d5ff3', '0x5b5f5ffd']),
  })
}
