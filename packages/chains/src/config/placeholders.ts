/** Values by name; an empty one counts as unset. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A placeholder whose variable is not set, and where it stands, e.g. `chains[3].httpRpcUrl`. */
export type UnsetPlaceholder = { readonly path: string; readonly variable: string }

/**
 * Replaces every string that starts with `$` by the variable of that name, at any depth, arrays
 * included. Only whole strings are placeholders: nothing is put together inside a string. A member whose
 * variable is unset is left out.
 * @source oracle-protocol.md 6.2
 */
export function resolvePlaceholders(
  json: unknown,
  variables: Variables,
): { readonly value: unknown; readonly unset: readonly UnsetPlaceholder[] } {
  const unset: UnsetPlaceholder[] = []
  const resolve = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') {
      if (!value.startsWith('$')) return value
      const variable = value.slice(1)
      const text = Object.hasOwn(variables, variable) ? variables[variable] : undefined
      if (text !== undefined && text !== '') return text
      unset.push({ path, variable })
      return undefined
    }
    if (Array.isArray(value)) {
      return value.map((member, index) => resolve(member, `${path}[${index}]`)).filter(isSet)
    }
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value)
      .map(([name, member]) => [name, resolve(member, path === '' ? name : `${path}.${name}`)] as const)
      .filter(([, member]) => isSet(member))
    return Object.fromEntries(members)
  }
  return { value: resolve(json, ''), unset }
}

function isSet(value: unknown): boolean {
  return value !== undefined
}
