import { readFile } from 'node:fs/promises'

export type JsonFileReading =
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly json: unknown }

/** Reads a JSON file; `json` is `undefined` when the text is not JSON, as after a torn write. */
export async function readJsonFile(path: string): Promise<JsonFileReading> {
  try {
    return { kind: 'found', json: parseJson(await readFile(path, 'utf8')) }
  } catch (error) {
    if (isMissingFile(error)) return { kind: 'missing' }
    throw error
  }
}

export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
