// Contract wallets of every behaviour, put at addresses of a node.
import type { Hex } from '@causeway/core'

const magic = '1626ba7e'.padEnd(64, '0')

/** Runtime code, by what it does when asked for a signature. */
export const walletCode = {
  /** Yes when the hash it is asked about is the one in its first storage slot. */
  owned: `0x600054600435147f${magic}0260005260206000f3`,
  'says no': `0x7f${'ffffffff'.padEnd(64, '0')}60005260206000f3`,
  reverts: '0x60006000fd',
  loops: '0x5b600056',
  /** More memory than the gas of the question buys. */
  'answers 1 MB': '0x621000006000f3',
  /** Cheap enough to be returned, with a yes at its start. */
  'answers 100 KB that start with yes': `0x7f${magic}600052620186a06000f3`,
  'answers 4 bytes': `0x7f${magic}60005260046000f3`,
  'answers a yes with more behind it': `0x7f${'1626ba7e'.padEnd(63, '0')}160005260206000f3`,
  'answers nothing': '0x00',
} as const satisfies Record<string, Hex>

/** Sends one JSON-RPC call to a node. */
export async function callNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return response.json()
}

/** Makes the `owned` wallet at this address stand behind a digest. */
export async function setOwnedDigest(url: string, wallet: Hex, digest: Uint8Array): Promise<void> {
  const word = `0x${Buffer.from(digest).toString('hex')}`
  await callNode(url, 'anvil_setStorageAt', [wallet, `0x${'0'.repeat(64)}`, word])
}

/** An address of its own for each name. */
export function addressNamed(index: number): Hex {
  return `0x${(0xc0de00 + index).toString(16).padStart(40, '0')}`
}

const received = '3d0ce9bfc3ed7d6862dbb28b2dea94561fe714a1b4d019aa8af39730d1ad7c3d'
const behind = '5a'.repeat(20)

/**
 * Takes coin as a Safe does: its account is a proxy, whose code lies at another address and writes `SafeReceived(address
 * indexed sender, uint256 value)`. @source ERC-7511 (the proxy)
 */
export const safeProxy: Hex = `0x365f5f375f5f365f73${behind}5af43d5f5f3e5f3d91602a57fd5bf3`
export const safeCode: { readonly address: Hex; readonly bytecode: Hex } = {
  address: `0x${behind}`,
  bytecode: `0x345f52337f${received}60205fa200`,
}
