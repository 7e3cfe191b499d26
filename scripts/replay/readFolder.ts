import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bitcoinRecords } from './bitcoinRecords.ts'
import { ethereumRecords } from './ethereumRecords.ts'
import { hyperliquidRecords, lighterRecords } from './exchangeRecords.ts'
import { type Outcome, type RecordKind, readRecord, refused } from './outcome.ts'
import { readRefusal } from './refusalRecords.ts'
import { solanaRecords } from './solanaRecords.ts'
import { tronRecords } from './tronRecords.ts'

/** Folders of records, by their names. `errors` has refusals of any node. */
const kindsByFolder: ReadonlyMap<string, readonly RecordKind[]> = new Map([
  ['ethereum-vm', ethereumRecords],
  ['solana-vm', solanaRecords],
  ['bitcoin-vm', bitcoinRecords],
  ['tron-vm', tronRecords],
  ['hyperliquid-vm', hyperliquidRecords],
  ['lighter-vm', lighterRecords],
])

export const recordFolders: readonly string[] = [...kindsByFolder.keys(), 'errors']

type FileOutcome = { readonly file: string; readonly outcome: Outcome }

/** Prints a line per file, and the counts. @returns the exit code */
export async function replay(folder: string, print: (line: string) => void): Promise<number> {
  const counts = { read: 0, refused: 0, 'not understood': 0, differs: 0 }
  for await (const { file, outcome } of readFolder(folder)) {
    counts[outcome.kind] += 1
    print(`${file}: ${outcome.kind}${outcome.kind === 'read' ? '' : `: ${outcome.reason}`}`)
  }
  const { read, refused: refusals, differs, 'not understood': unread } = counts
  print(`${read} read, ${refusals} refused, ${unread} not understood, ${differs} differ`)
  if (read + refusals + unread + differs === 0) return 2
  return unread + differs > 0 ? 1 : 0
}

/** Reads every file below the folders of a folder, but for pages of documentation. */
async function* readFolder(folder: string): AsyncGenerator<FileOutcome> {
  for (const name of recordFolders) {
    for (const file of filesIn(folder, name)) {
      yield { file, outcome: await readFile(name, readFileSync(join(folder, file), 'utf8')) }
    }
  }
}

function filesIn(folder: string, name: string): readonly string[] {
  if (!readdirSync(folder).includes(name)) return []
  return readdirSync(join(folder, name))
    .filter((file) => !file.endsWith('.md'))
    .sort()
    .map((file) => `${name}/${file}`)
}

/** Reads one record of a folder. */
async function readFile(folder: string, text: string): Promise<Outcome> {
  const kinds = kindsByFolder.get(folder)
  if (kinds === undefined) return readRefusal(text)
  const body = parseJson(text)
  const { error, jsonrpc, result } = Object(body)
  if (typeof error === 'object' && error !== null) return refused(`${error.code} ${error.message}`)
  const isEnvelope = jsonrpc !== undefined || Object.keys(Object(body)).every((key) => envelope.has(key))
  const recordedResult = isEnvelope && result !== undefined ? result : body
  if (recordedResult === null) return refused('there is nothing')
  return readRecord(kinds, { text, result: recordedResult })
}

const envelope: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result', 'error'])

/** A record that is no JSON is a text of its own, such as hex. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text.trim()
  }
}
