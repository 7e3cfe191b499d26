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
