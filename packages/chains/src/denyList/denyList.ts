import { ConfigurationError } from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'
import { codecOf, mainNetwork, type VmType, vmTypes } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { z } from 'zod'

/**
 * Why money of a denied account stays where it is; begins the reason with which a solver gives a payment up for it.
 * @source rule O-182
 */
export const blockedWallet = 'BLOCKED_WALLET'

/** So many in one list, of all keys together: reading them takes some tenths of a second, in which nothing else runs. */
export const denyListEntriesMax = 50_000
const addressLengthMax = 128

const accountsOfFamilies = z
  .partialRecord(z.enum(vmTypes), z.array(z.string().min(1).max(addressLengthMax)))
  .describe('Addresses by family, as chain files name families')

/** A list as operators write it, in a file or behind a URL. Members that it does not know are refused. */
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
  /** Addresses that it holds, those of single keys among them. */
  readonly entries: number
  /**
   * @param account as the codec of its family spells it. Families that spell accounts alike share them: 20 bytes of
   * hex are one account on every EVM chain
   * @param keyId public id of the API key that asks; undefined where none does
   */
  denies(account: string, keyId: string | undefined): boolean
}

/**
 * Reads the text of a list.
 * @throws ConfigurationError that says where it is wrong, and repeats nothing of it
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

function accountsOf(
  byFamily: Readonly<Partial<Record<VmType, readonly string[]>>>,
  place: string,
): ReadonlySet<string> {
  return new Set(
    vmTypes.flatMap((vmType) =>
      (byFamily[vmType] ?? []).map((address, index) => {
        const account = spelledIn(vmType, address)
        if (account === undefined)
          throw new ConfigurationError(
            `${place}.${vmType}.${index} is no address of ${families[vmType].name}`,
          )
        return account
      }),
    ),
  )
}

/** The native coin's own sentinel is nobody's account: it stands for wallets that are not chosen yet. */
function spelledIn(vmType: VmType, address: string): string | undefined {
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

/** Minimum size of a new list, in percent of the most entries that its source ever had. */
const keptPercent = 50

/**
 * Why a list that was read does not take the place of the one in force: what empties or halves a list is a mistake or
 * an attack more often than a decision. Pure.
 * @param entriesMost of any list of the source since the start: it must not be taken down in small steps either
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
