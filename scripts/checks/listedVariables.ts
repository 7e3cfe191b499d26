/** An item of the page of variables, such as `- \`PORT\` (\`3000\`): …`. */
export type ListedVariables = {
  readonly names: readonly string[]
  /** As the page writes it; empty where there is none. */
  readonly byDefault: string
}

/** The items of all sections whose heading matches. `<CHAIN>_…` stands for the key of any chain. */
export function listedVariables(page: string, heading: RegExp): readonly ListedVariables[] {
  const sections = page.split(/^#+ /m).filter((section) => heading.test(section.split('\n', 1)[0] ?? ''))
  return sections.flatMap((section) =>
    [...section.matchAll(/^- ((?:`(?:<CHAIN>_)?[A-Z][A-Z0-9_]*`(?:, )?)+)(?: \(([^)]*)\))?/gm)].map(
      ([, names = '', byDefault = '']) => ({
        names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
        byDefault,
      }),
    ),
  )
}

/** Sections of what a service reads by itself, in the page of variables. */
export const ownVariables = /^(Variables of|Ports and folders)/
/** The section of what configuration files name. */
export const variablesOfFiles = /^Variables that the configuration files name/
