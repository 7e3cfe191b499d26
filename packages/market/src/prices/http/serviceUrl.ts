/** `path` below a service's base address, whose own path is kept: `https://host/api/v3` + `simple/price`. */
export function serviceUrl(baseUrl: string, path: string): URL {
  return new URL(path, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
}
