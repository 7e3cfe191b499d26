import { ConfigurationError } from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'
import { codecOf, mainNetwork, type VmType, vmTypes } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { z } from 'zod'

/**
 * Reason code of money that stays where it is because an account is denied. A solver that gives up a payment for that
 * reports a reason that begins with it.
 * @source rule O-182
 */
export const blockedWallet = 'BLOCKED_WALLET'

/** Most entries of one list, single API keys included: parsing so many blocks the process for tenths of a second. */
export const denyListEntriesMax = 50_000
const addressLengthMax = 128

const accountsOfFamilies = z
  .partialRecord(z.enum(vmTypes), z.array(z.string().min(1).max(addressLengthMax)))
  .describe('Addresses by family, as chain files name families')

/** A list as operators write it, in a file or behind a URL. Unknown members are refused. */
const denyListSchema = z.strictObject({
  version: z.literal(1),
  denied: accountsOfFamilies.describe('For everybody'),
  perKey: z
    .record(z.string().regex(/^[a-z2-7]{10}$/), accountsOfFamilies)
    .optional()
    .describe('Beyond that for requests of one API key, by its public id'),
})

/** Accounts that are not served. */
export interface DenyList {
  /** Number of addresses on the list, including those of single API keys. */
  readonly entries: number
  /**
   * @param account as `spellAddress` of its family's codec returns it. The family itself is not compared: an EVM
   * address is denied on every EVM chain
   * @param keyId public id of the caller's API key; undefined for a caller without one
   */
  denies(account: string, keyId: string | undefined): boolean
}

/**
 * Reads the text of a list.
 * @throws ConfigurationError that says where the text is wrong, and quotes nothing from it
 */
export function parseDenyList(text: string): DenyList {
  const { denied, perKey = {} } = schemaOf(text)
  const everybody = accountsOf(denied, 'denied')
  const ofKeys = new Map(
    Object.entries(perKey).map(([keyId, accounts]) => [keyId, accountsOf(accounts, `perKey.${keyId}`)]),
  )
  const entries = [everybody, ...ofKeys.values()].reduce((sum, { size }) => sum + size, 0)
  if (entries > denyListEntriesMax)
    throw new ConfigurationError(`the list has ${entries} entries, more than ${denyListEntriesMax}`)
  return {
    entries,
    denies: (account, keyId) =>
      everybody.has(account) || (keyId !== undefined && ofKeys.get(keyId)?.has(account) === true),
  }
}

function schemaOf(text: string): z.infer<typeof denyListSchema> {
  const parsed = denyListSchema.safeParse(jsonOf(text))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ConfigurationError(`the list is wrong at ${issue?.path.join('.') || 'its root'}`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ConfigurationError('the list is no JSON')
    throw error
  }
}

/** Spelled accounts of one list. @param place of the list in the file, for errors */
function accountsOf(
  byFamily: Readonly<Partial<Record<VmType, readonly string[]>>>,
  place: string,
): ReadonlySet<string> {
  return new Set(
    vmTypes.flatMap((vmType) =>
      (byFamily[vmType] ?? []).map((address, index) => {
        const account = spellAccount(vmType, address)
        if (account === undefined)
          throw new ConfigurationError(
            `${place}.${vmType}.${index} is no address of ${families[vmType].name}`,
          )
        return account
      }),
    ),
  )
}

/**
 * An address as lists are compared; `undefined` for what is no address. The sentinel of the native coin is none: quotes
 * use it for a wallet that is not chosen yet. Lists name accounts of main networks.
 */
function spellAccount(vmType: VmType, address: string): string | undefined {
  const codec = codecOf(mainNetwork(vmType))
  return codec.isAddress(address) ? codec.spellAddress(address) : undefined
}

/** True if an account is on the list, in any spelling. Text that is no address of its family is on no list. */
export function isDenied(
  list: DenyList,
  codec: Pick<VmCodec, 'spellAddress'>,
  address: string,
  keyId: string | undefined,
): boolean {
  return list.denies(codec.spellAddress(address), keyId)
}

/** List that denies every account denied by any of `lists`. */
export function unionOfDenyLists(lists: readonly DenyList[]): DenyList {
  return {
    entries: lists.reduce((sum, { entries }) => sum + entries, 0),
    denies: (account, keyId) => lists.some((list) => list.denies(account, keyId)),
  }
}

/** Minimum size of a new list, in percent of the most entries that its source had since the start. */
const keptPercent = 50

/**
 * Reason for which a new list must not replace the one in force; `undefined` if it may. A list that suddenly is empty
 * or half as long is more often a mistake or an attack than a decision. Pure.
 * @param entriesMost most entries of any list of the source since the start, so that small steps do not get around it
 */
export function refuseReplacement(
  { entries }: Pick<DenyList, 'entries'>,
  { entriesMost = 0, entriesMin }: { readonly entriesMost?: number | undefined; readonly entriesMin: number },
): string | undefined {
  if (entries < entriesMin) return `the list has ${entries} entries, less than ${entriesMin}`
  if (entries * 100 < entriesMost * keptPercent)
    return `the list has ${entries} entries, less than half of the ${entriesMost} that it had`
  return undefined
}
