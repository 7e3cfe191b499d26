import { publishedDevelopmentAddresses } from '@causeway/core/config'
import type { LocalAccount, LocalKeys } from './localKeys.ts'

/** The roles whose key is published; empty for keys that were generated here. */
export function rolesWithPublishedKeys(keys: LocalKeys): readonly string[] {
  return keyRoles(keys)
    .filter(({ account }) => publishedDevelopmentAddresses.has(account.address.toLowerCase()))
    .map(({ role }) => role)
}

/** Every account of a network with the name it has in messages. */
export function keyRoles(
  keys: LocalKeys,
): readonly { readonly role: string; readonly account: LocalAccount }[] {
  const { oracles, users, ...single } = keys
  const numbered = (name: string, accounts: readonly LocalAccount[]) =>
    accounts.map((account, index) => ({ role: `${name} ${index + 1}`, account }))
  return [
    ...Object.entries(single).map(([role, account]) => ({ role, account })),
    ...numbered('oracle', oracles),
    ...numbered('user', users),
  ]
}
