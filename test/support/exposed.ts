// Metrics that a service exposes at /metrics, without those that depend on the version of the runtime.

export type Exposed = {
  readonly name: string
  readonly type: string
  readonly help: string
  /** Labels of the current series, without `service` and those of histograms. */
  readonly labels: readonly string[]
}

const everywhere: ReadonlySet<string> = new Set(['service', 'le'])

export async function readExposed(opsUrl: string): Promise<readonly Exposed[]> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
  return [...text.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .map(([, name = '', help = '']) => ({
      name,
      help,
      type: types.get(name) ?? '',
      labels: labelsOf(text, name),
    }))
    .filter(({ name }) => !/^(?:process|nodejs)_/.test(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function labelsOf(text: string, name: string): readonly string[] {
  const series = text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{([^\\n]*)\\}`, 'gm'))
  const labels = [...series].flatMap(([, pairs = '']) =>
    [...pairs.matchAll(/(?:^|,)(\w+)="/g)].map(([, label = '']) => label),
  )
  return [...new Set(labels)].filter((label) => !everywhere.has(label))
}
