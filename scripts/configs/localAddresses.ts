import type { RawConfigSet } from './configFiles.ts'

/** The same on every chain by construction, so they may stand in any environment's files. */
const sharedAddresses = new Set([
  `0x${'0'.repeat(40)}`,
  // Multicall3
  '0xca11bde05977b3631167028862be2a173976ca11',
  // OP stack predeploys: wrapped ether and gas price oracle
  '0x4200000000000000000000000000000000000006',
  '0x420000000000000000000000000000000000000f',
])

/** Every address that exists on the local network alone; no other environment may name one. */
export function localAddressesOf(local: RawConfigSet): ReadonlySet<string> {
  return new Set(addressesOf(local).filter((address) => !sharedAddresses.has(address)))
}

/** Every 20-byte hex string of a file, lower case. */
export function addressesOf(value: unknown): readonly string[] {
  return [...JSON.stringify(value).matchAll(/0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g)].map((match) =>
    match[0].toLowerCase(),
  )
}
