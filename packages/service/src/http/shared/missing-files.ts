import { isError } from '@reseller/contract/is-error';
import type { FastifyInstance } from 'fastify';

const SMALLEST_ERROR_OF_SERVICE = 500;

/** Makes an application that serves files refuse every path without one, however it is written. Call it before the file server is registered. */
export function refuseMissingFiles(site: FastifyInstance, noSuchFile: () => Error): void {
  const handleError = site.errorHandler;
  site.setErrorHandler(async (error, request, reply) => {
    // The file server refuses paths outside its folder with 400 or 403.
    const isOfRequest = isError(error) && 'statusCode' in error && Number(error.statusCode) < SMALLEST_ERROR_OF_SERVICE;
    return handleError.call(site, isOfRequest ? noSuchFile() : error, request, reply);
  });
  site.setNotFoundHandler(async () => {
    throw noSuchFile();
  });
}
