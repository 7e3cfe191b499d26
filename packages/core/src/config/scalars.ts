import { z } from 'zod'
import { anyCaseHex32Pattern, type Hex } from '../hex.ts'

/** `mainnets.prod`, `testnets.prod`, `local`: the name part of the configuration files. */
export const environmentName = z.string().regex(/^[a-z0-9]+(\.[a-z0-9]+)*$/, {
  error: 'must be lower-case letters and digits with single dots in between, such as mainnets.prod',
})

/** String id of a chain, the same in all configuration files and in orders, e.g. `base`. */
export const chainKey = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be the name of a chain: a-z, 0-9, _ and -')

/** EVM address, lower-cased on parse. */
export const evmAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'must be an EVM address: 0x and 40 hex digits' })
  .transform((value): Hex => `0x${value.slice(2).toLowerCase()}`)

/** 32 bytes, lower-cased on parse. */
export const hash32 = z
  .string()
  .regex(anyCaseHex32Pattern, { error: 'must be 0x and 64 hex digits' })
  .transform((value): Hex => `0x${value.slice(2).toLowerCase()}`)

/**
 * Contracts with code that is neither this release's nor a public one that the release knows, by address. A
 * value is the keccak-256 of the expected code, or `unchecked`, of which every start warns.
 */
export const codeHashes = z.record(evmAddress, z.union([z.literal('unchecked'), hash32]))

/** Non-negative integer as a decimal string, a `bigint` after parsing. */
export const decimalInteger = z
  .string()
  .regex(/^[0-9]{1,78}$/, { error: 'must be a whole number, at most 78 digits long' })
  .transform((value) => BigInt(value))

/** Ports that `fetch` and browsers refuse to call: other protocols use them. @source WHATWG Fetch, "port blocking" */
export const portsRefusedByFetch: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** Port on which a service listens for HTTP; 0: the system picks a free one. */
export const listenPort = z.coerce
  .number()
  .int()
  .min(0)
  .max(65_535)
  .refine(
    (port) => !portsRefusedByFetch.has(port),
    'must be another port, because fetch and browsers refuse to ask this one',
  )

export const bps = z.number().int().min(0).max(10_000)
