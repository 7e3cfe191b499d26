/** Environment variables by name; an empty one counts as unset. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A placeholder and where it stands, e.g. `chains[3].httpRpcUrl`. */
export type Placeholder = { readonly path: string; readonly variable: string }

export type ResolvedPlaceholders = {
  readonly value: unknown
  /** Placeholders by whether their variable had a value. */
  readonly set: readonly Placeholder[]
  readonly unset: readonly Placeholder[]
  /** Places of strings that look like a placeholder and are none, e.g. `${X}` or a lone `$`. */
  readonly malformed: readonly string[]
}

const placeholder = /^\$[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Replaces every string that is `$` and the name of a variable, at any depth, arrays included. Only whole
 * strings are placeholders, not parts of one. A member whose variable is unset is left out. A string that only
 * resembles a placeholder is probably a mistake: it is listed as malformed, which stops the start.
 * @source rule O-144
 */
export function resolvePlaceholders(json: unknown, variables: Variables): ResolvedPlaceholders {
  const set: Placeholder[] = []
  const unset: Placeholder[] = []
  const malformed: string[] = []
  const resolve = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') {
      if (value.startsWith('$') ? !placeholder.test(value) : value.includes('${')) {
        malformed.push(path)
        return undefined
      }
      if (!value.startsWith('$')) return value
      const variable = value.slice(1)
      const text = Object.hasOwn(variables, variable) ? variables[variable] : undefined
      const isKnown = text !== undefined && text !== ''
      const kind = isKnown ? set : unset
      kind.push({ path, variable })
      return isKnown ? text : undefined
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
  return { value: resolve(json, ''), set, unset, malformed }
}

function isSet(value: unknown): boolean {
  return value !== undefined
}
