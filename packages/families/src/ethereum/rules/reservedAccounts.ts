import type { Hex } from '@causeway/core'

// Addresses in lower case have the order of their numbers.

/** Networks place precompiles and contracts of their own at addresses up to this one. */
const lastLowAddress = `0x${'0'.repeat(36)}ffff`
/** Predeploys of the OP stack, 2,048 of them. @source specs.optimism.io, "Predeploys" */
const predeploys = { first: `0x42${'0'.repeat(38)}`, last: `0x42${'0'.repeat(35)}7ff` }

const ofTheNetwork = 'a contract of the network itself'
const emptiedByAnybody = 'a contract that anybody empties'
const takesNothing = 'a public contract that keeps money for nobody'

/**
 * Public contracts that have the same address on every chain. Anybody can take money that is sent there, or nobody can.
 * @source EIP-4788, EIP-2935, EIP-7002, EIP-7251, EIP-7708, ERC-4337; the deposit contract of Ethereum's beacon chain;
 * the pages of Permit2, Multicall3 and the deterministic deployment proxy
 */
const reservedAccounts: ReadonlyMap<string, string> = new Map([
  ['0x000f3df6d732807ef1319fb7b8bb8522d0beac02', ofTheNetwork],
  ['0x0000f90827f1c53a10cb7a02335b175320002935', ofTheNetwork],
  ['0x00000961ef480eb55e80d19ad83579a64c007002', ofTheNetwork],
  ['0x0000bbddc7ce488642fb579f8b00f3a590007251', ofTheNetwork],
  ['0x00000000219ab540356cbb839cbe05303d7705fa', ofTheNetwork],
  ['0xfffffffffffffffffffffffffffffffffffffffe', ofTheNetwork],
  ['0x000000000022d473030f116ddee9f6b43ac78ba3', takesNothing],
  ['0x4e59b44847b379578588920ca78fbf26c0b4956c', takesNothing],
  ['0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789', takesNothing],
  ['0x0000000071727de22e5e9d8baf0edac6f37da032', takesNothing],
  ['0xca11bde05977b3631167028862be2a173976ca11', emptiedByAnybody],
])

/** Addresses of nobody: zero, and `…dead`, for which clients ask prices before a wallet is connected. */
export const burntAccounts: readonly Hex[] = [`0x${'0'.repeat(40)}`, `0x${'0'.repeat(36)}dead`]

/**
 * Describes an account that belongs to the network, or that must not be paid because money there would be lost;
 * undefined for others. `account` is lower case.
 */
export function reservedAccount(account: string): string | undefined {
  const description = reservedAccounts.get(account)
  if (description !== undefined || !/^0x[0-9a-f]{40}$/.test(account)) return description
  // Addresses of nobody have a rule of their own, see `QuotingFamily.burnt`.
  if (burntAccounts.some((burnt) => burnt === account)) return undefined
  if (account <= lastLowAddress) return 'a precompile, or a contract of the network itself'
  return account >= predeploys.first && account <= predeploys.last ? 'a predeploy of the network' : undefined
}
