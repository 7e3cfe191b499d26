import { publishedDevelopmentAddresses } from '@causeway/core/config'
import type { LocalAccount, LocalKeys } from './localKeys.ts'

/** Roles whose key is one of the well-known development keys; none where a start generated the keys. */
export function rolesWithPublishedKeys(keys: LocalKeys): readonly string[] {
  return keyRoles(keys)
    .filter(({ account }) => publishedDevelopmentAddresses.has(account.address.toLowerCase()))
    .map(({ role }) => role)
}

/** Every account of a network with the name it has in messages. */
export function keyRoles(
  keys: LocalKeys,
): readonly { readonly role: string; readonly account: LocalAccount }[] {
  const { oracles, users, ...singleRoles } = keys
  const numbered = (name: string, accounts: readonly LocalAccount[]) =>
    accounts.map((account, index) => ({ role: `${name} ${index + 1}`, account }))
  return [
    ...Object.entries(singleRoles).map(([role, account]) => ({ role, account })),
    ...numbered('oracle', oracles),
    ...numbered('user', users),
  ]
}
