import type { Arguments, Flag } from '@causeway/cli'
import { anyCaseHex32Pattern, type Hex } from '@causeway/core'
import { parseCasedAddress } from '@causeway/families/rules'
import { type ZodType, z } from 'zod'
import { operatorReason } from '../../access/operatorReason.ts'
import { CommandError } from './commandError.ts'

/** Reads an operand or flag by a schema. @throws CommandError that names it and says what is right */
export function readValue<T>(schema: ZodType<T>, value: unknown, name: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new CommandError(`${name}: ${parsed.error.issues[0]?.message ?? 'not valid'}.`)
}

/** A block, an id or another number, for `readValue`. */
export const integer = z
  .string()
  .regex(/^[0-9]{1,18}$/, 'expected a whole number')
  .transform(BigInt)

/** @param subject plural noun that begins the message of a mistake @throws CommandError */
export function readJson(text: string, subject: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new CommandError(`${subject} are no JSON: ${error.message}.`)
  }
}

/** Lower case. @throws CommandError */
export function readWallet(text: string, name: string): Hex {
  const wallet = parseCasedAddress(text)
  if (wallet !== undefined) return wallet
  throw new CommandError(`${name}: expected 0x and 40 hex digits, in one case or with the EIP-55 checksum.`)
}

const usdForm = /^([0-9]{1,15})(?:\.([0-9]{1,6}))?$/

/** Micro-USDC of an amount like `25` or `0.05`. @throws CommandError */
export function readUsd(text: string, name: string): bigint {
  const [, whole, fraction = ''] = usdForm.exec(text) ?? []
  if (whole === undefined) {
    throw new CommandError(`${name}: expected USD with at most 6 decimals, e.g. 25 or 0.05.`)
  }
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

const secondsByUnit = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** Seconds of a time like `0`, `30m`, `12h` or `7d`. @throws CommandError */
export function readDuration(text: string, name: string): number {
  const [, count, unit] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? []
  if (text === '0') return 0
  const seconds = Object.entries(secondsByUnit).find(([unitName]) => unitName === unit)?.[1]
  if (count === undefined || seconds === undefined) {
    throw new CommandError(`${name}: expected a time like 0, 30m, 12h or 7d.`)
  }
  return Number.parseInt(count, 10) * seconds
}

const id32 = z
  .string()
  .regex(anyCaseHex32Pattern, 'expected 0x and 64 hex digits')
  // CAST: the pattern admits nothing else.
  .transform((text) => text.toLowerCase() as Hex)

/** Lower case. @throws CommandError */
export function readId32(text: string, name: string): Hex {
  return readValue(id32, text, name)
}

/** Flag of commands that change something: the operator's reason. */
export const reasonFlag: Flag = { value: '<text>', about: 'Stored with the action', isRequired: true }

/** @throws CommandError */
export function readReason(args: Arguments): string {
  return readValue(operatorReason, args.text('reason'), '--reason')
}
