import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import type { FieldFiles } from './files.ts'
import type { FieldOptions } from './options.ts'
import { type RecordingProxy, startRecordingProxy } from './recordingProxy.ts'
import { answersIn, createRecorder, createScrubber, sourcesHead } from './records.ts'

export type Recording = {
  /** A recording proxy in the place of the first endpoint of a variable. */
  urlOf(variable: string): string
  /** Each with proxies in the place of all its endpoints. */
  readonly variables: Readonly<Record<string, string>>
  readonly families: FieldOptions['families']
  readonly scrub: (text: string) => string
  requests(): Readonly<Record<string, number>>
  count(): number
  stop(): Promise<void>
}

type RecordingPlace = {
  /** Folder of all records. */
  readonly folder: string
  /** Beside what endpoints hold. */
  readonly secrets: readonly string[]
  readonly print: (line: string) => void
}

type Recorded = Pick<FieldOptions, 'variables' | 'families' | 'publicOracle'>

/** Everything that has endpoints. @throws ConfigurationError for one that is no URL */
function placesOf({ variables, families }: Recorded, { chains, hubVariable }: FieldFiles) {
  const listOf = (variable: string) => (variables[variable] ?? '').split(',').map((url) => url.trim())
  const places = [
    ...chains.map(({ key, variable }) => ({
      name: key,
      family: 'ethereum-vm',
      variable,
      urls: listOf(variable),
    })),
    { name: 'hub', family: 'ethereum-vm', variable: hubVariable, urls: listOf(hubVariable) },
    ...families.map(({ family, url }) => ({ name: family, family, variable: '', urls: [url] })),
  ]
  const bad = places.find(({ urls }) => !urls.every((url) => URL.canParse(url)))
  if (bad !== undefined) throw new ConfigurationError(`An endpoint of ${bad.name} is no URL.`)
  return places
}

/** Writes one file after the other. */
function createWriter({ folder, print }: Pick<RecordingPlace, 'folder' | 'print'>) {
  let writing: Promise<unknown> = Promise.resolve()
  return {
    keep(file: string, text: string): void {
      writing = writing.then(async () => {
        const path = join(folder, file)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, text)
      })
      writing.catch((error: unknown) => print(`  a record could not be written: ${error}`))
    },
    end: () => writing,
  }
}

/** Stands in front of every endpoint, and writes what they answer, scrubbed, in the form of the corpus. */
export async function startRecording(
  options: Recorded,
  files: FieldFiles,
  { folder, secrets, print }: RecordingPlace,
): Promise<Recording> {
  const { families, publicOracle } = options
  const { chains, hubVariable } = files
  const places = placesOf(options, files)
  const { url: oracleUrl, apiKey: oracleKey } = publicOracle ?? {}
  const scrub = createScrubber({
    endpoints: [...places.flatMap(({ urls }) => urls), ...(oracleUrl === undefined ? [] : [oracleUrl])],
    secrets: [...secrets, ...(oracleKey === undefined ? [] : [oracleKey])],
  })
  const record = createRecorder(scrub)
  const sources = new Map<string, string[]>()
  const { keep, end } = createWriter({ folder, print })
  const proxies: { readonly name: string; readonly variable: string; readonly proxy: RecordingProxy }[] = []
  for (const { name, family, variable, urls } of places) {
    for (const endpoint of urls) {
      const proxy = await startRecordingProxy(endpoint, (exchange) => {
        for (const answer of answersIn({ family, ...exchange })) {
          const kept = record(answer, { chain: name, endpoint })
          if (kept === undefined) continue
          keep(kept.file, kept.text)
          sources.set(answer.folder, [...(sources.get(answer.folder) ?? []), kept.source])
        }
      })
      proxies.push({ name, variable, proxy })
    }
  }
  const urlsOf = (variable: string) =>
    proxies.filter((one) => one.variable === variable).map(({ proxy }) => proxy.url)
  return {
    urlOf: (variable) => urlsOf(variable)[0] ?? '',
    variables: Object.fromEntries(
      [...chains.map(({ variable }) => variable), hubVariable].map((name) => [name, urlsOf(name).join(',')]),
    ),
    families: families.map(({ family }) => ({
      family,
      url: proxies.find(({ name }) => name === family)?.proxy.url ?? '',
    })),
    scrub,
    requests() {
      const counts: Record<string, number> = {}
      for (const { name, proxy } of proxies) counts[name] = (counts[name] ?? 0) + proxy.count()
      return counts
    },
    count: () => [...sources.values()].reduce((sum, lines) => sum + lines.length, 0),
    async stop() {
      for (const { proxy } of proxies) await proxy.stop()
      for (const [name, lines] of sources) keep(`${name}/SOURCES.md`, `${sourcesHead}\n${lines.join('\n')}\n`)
      await end()
    },
  }
}
